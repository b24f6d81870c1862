/* A sender and a receiver on a channel that may lose messages.
 * Change it, and see what happens: stubborn check FILE
 */

#define MAX 3

mtype = { message, confirmation };

chan forth = [1] of { mtype, byte };
chan back = [1] of { mtype, byte };

byte received;	/* the number of the last message that arrived */

active proctype Sender()
{
	byte number = 1;
	byte heard;

	do
	::	number <= MAX ->
		forth ! message(number);
		if
		::	back ? confirmation(heard) ->
			assert(heard == number);
			number++
		::	timeout	/* lost: once more */
		fi
	::	number > MAX -> break
	od
}

active proctype Receiver()
{
	byte number;

end:	do
	::	forth ? message(number) ->
		assert(number == received || number == received + 1);
		received = number;
		back ! confirmation(number)
	::	forth ? message(_)	/* lost on the way */
	od
}

ltl in_bounds { [] (received <= MAX) }
