/* The alternating bit protocol: messages and acknowledgments may be lost, but what is delivered is what
 * was sent, in the same order. Messages are the numbers 0, 1, 2, 0, 1, … */

#define N	3

mtype = { data, ack };

chan to_receiver = [1] of { mtype, bit, byte };
chan to_sender = [1] of { mtype, bit };

active proctype Sender()
{
	bit number, answer;
	byte message;

	do
	::	to_receiver!data(number, message);
		if
		::	to_sender?ack(answer);
			if
			::	answer == number ->
				number = 1 - number;
				message = (message + 1) % N
			::	else
			fi
		::	timeout		/* something was lost: send it again */
		fi
	od
}

active proctype Receiver()
{
	bit number, expected;
	byte message, next;

	do
	::	to_receiver?data(number, message);
		if
		::	number == expected ->
			assert(message == next);
progress_delivered:
			printf("delivered %d\n", message);
			expected = 1 - expected;
			next = (next + 1) % N
		::	else
		fi;
		to_sender!ack(number)
	::	to_receiver?data(_, _)	/* lost on the way */
	od
}
