/* Clients ask a server for a printer; the server starts an agent for each of them, which talks to its client
 * over the client's own channel. There is one printer. */

#define CLIENTS	2

mtype = { request, granted, done };

chan server = [0] of { mtype, chan };
bool printing[CLIENTS];
byte free = 1;

proctype Agent(chan client)
{
	atomic { free > 0 -> free-- };
	client!granted;
	client?done;
	free++
}

active proctype Server()
{
	chan client;

end:	do
	::	server?request(client) ->
		run Agent(client)
	od
}

proctype Client(byte number)
{
	chan mine = [0] of { mtype };

	server!request(mine);
	mine?granted;
	printing[number] = true;
	printf("client %d prints\n", number);
	printing[number] = false;
	mine!done
}

init {
	atomic {
		run Client(0);
		run Client(1)
	}
}

ltl one_at_a_time { [] !(printing[0] && printing[1]) }
ltl all_print { (<> printing[0]) && (<> printing[1]) }
