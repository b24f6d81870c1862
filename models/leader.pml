/* Leader election in a ring (Dolev, Klawe and Rodeh 1982): every process knows its own number only, messages
 * go around in one direction, and in the end exactly one has found out that it has the greatest number. */

#define N	3

mtype = { one, two, winner };

chan link[N] = [N] of { mtype, byte };
byte n_leaders;

proctype Node(chan in, out; byte mine)
{
	byte best = mine, number, neighbor;
	bool is_active = true;

	out!one(mine);
end:	do
	::	in?one(number) ->
		if
		::	is_active && number != best ->
			out!two(number);
			neighbor = number
		::	is_active && number == best ->
			assert(number == N);
			out!winner(number);
			is_active = false
		::	else ->
			out!one(number)
		fi
	::	in?two(number) ->
		if
		::	is_active && neighbor > number && neighbor > best ->
			best = neighbor;
			out!one(neighbor)
		::	is_active && !(neighbor > number && neighbor > best) ->
			is_active = false
		::	else ->
			out!two(number)
		fi
	::	in?winner(number) ->
		if
		::	number == mine ->
			printf("%d is the leader\n", mine);
			n_leaders++;
			break
		::	else ->
			out!winner(number);
			break
		fi
	od
}

init {
	atomic {
		run Node(link[0], link[1], 2);
		run Node(link[1], link[2], 3);
		run Node(link[2], link[0], 1)
	}
}

ltl one_leader { <> [] (n_leaders == 1) }
