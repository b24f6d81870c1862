/* Peterson's algorithm: two processes that never are in their critical sections at the same time.
 * With -D BROKEN=1, they forget to say whose turn it is. */

bool wants[2];
byte turn;
byte inside;	/* how many are in their critical sections */

active [2] proctype P()
{
	pid other = 1 - _pid;

	do
	::	wants[_pid] = true;
#ifndef BROKEN
		turn = other;
#endif
		!wants[other] || turn == _pid;
critical:	inside++;
		assert(inside == 1);
		inside--;
		wants[_pid] = false
	od
}

ltl exclusive { [] (inside <= 1) }
ltl served { [] (wants[0] -> <> P[0]@critical) }
