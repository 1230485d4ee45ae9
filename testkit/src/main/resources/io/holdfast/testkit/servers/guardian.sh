# Runs a server and makes sure that it does not outlive the JVM that wanted it, however that JVM ends: the JVM holds the
# other end of our standard input, and the kernel closes that when the JVM is gone.
#
# Called with: LOG DIR COMMAND…
# Prints the server's process id, and "exit STATUS" when it has ended.
# Reads "kill" (ends the server), then "leave" (ends this guardian, the directory stays). End of input at any time: ends
# the server and removes the directory.

trap '' HUP INT TERM PIPE
log=$1
dir=$2
shift 2

exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
server=$!
(
  read -r word <&3
  kill -9 "$server"
) >/dev/null 2>&1 &
reader=$!

echo "$server"
wait "$server" 2>/dev/null
status=$?
# First the reader, so that it cannot hit a process that is given the same id later.
kill -9 "$reader" 2>/dev/null
wait "$reader" 2>/dev/null
echo "exit $status" 2>/dev/null

# A "kill" that crossed the server's own end has nothing to do any more.
word=kill
while [ "$word" = kill ]; do
  word=
  read -r word <&3
done
[ "$word" = leave ] || rm -rf "$dir"
