#define N 3
#define inc(v) v = (v + 1) % N
#ifdef NEVER
#error not here
#endif
mtype = { req, ack, nak };
mtype:color = { red, green };
typedef Inner { byte v; bit flags[2] = 1 }
typedef Outer { Inner in[2]; short s }
byte x = 1, y, list[N] = { 1, 2 };
bool up; int total; unsigned u : 4; mtype m = ack; mtype:color c;
hidden byte h; Outer o;
chan q = [2] of { mtype, byte }, sync = [0] of { byte };
chan many[2] = [1] of { Inner };

inline step(v, by) {
    byte old = v;
    if
    :: v < N -> v = v + by; goto done
    :: else -> skip; skip; printf("at %d\n", old)
    fi;
done: v = (v > N -> 0 : v)
}

inline choose(limit) { return limit + 1 }

proctype Worker(byte id; chan in, out) priority 2 provided (up || x > 0) {
    byte got; Inner msg; short i;
    xr in;
end_wait:
    do
    :: in?req,got -> atomic { out!ack(got); inc(x) }
    :: in?[nak,1] && nempty(in) -> in??nak,eval(id)
    :: in?<ack,_>; progress: i = i - 1
    :: d_step { x > 2; x = 0; do :: i < 2 -> i++ :: else -> break od }
    :: sync!id unless { timeout -> break }
    :: len(in) == 0 && full(out) -> goto stop
    :: else -> break
    od;
    { many[0]?msg; msg.flags[1] = ~msg.v } unless { x == 2; if :: y = 1 :: y = 2 fi };
    for (i : 0 .. N - 1) { list[i] = i }
    for (i in list) { total = total + list[i] << 1 }
    for (msg in many[1]) { total++ }
    select (got : 1 .. 3);
    step(o.in[got].v, 1); step(x, y);
    y = choose(x);
stop:
    assert(x <= N && (y != 'a' || !up)); printm(nak)
}

active [2] proctype Client() {
    pid p = _pid; sync?x;
    q!!req,_pid
    q!nak,x
    c = red
    accept_it: { h = 1 } ; set_priority(p, get_priority(p))
}

init {
    byte n;
    atomic { n = run Worker(1, q, q); run Worker(n, many[0], q) priority 3 }
    (_nr_pr == 1 || Worker[n]@end_wait || Client:p == enabled(1)) -> up = true
}

never { T: do :: !up -> break :: else -> goto T od; np_ -> skip }
ltl answer { [] (q?[req,1] -> <> (x == 1 || up)) }
ltl { (up U (x > 1)) V !Worker@stop && X (c == green) }
