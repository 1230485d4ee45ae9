package io.holdfast.verify.zookeeper;

import io.holdfast.verify.zookeeper.SimCommand.Answer;
import io.holdfast.verify.zookeeper.SimCommand.Write;
import java.util.ArrayDeque;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to one server, and what that server does for it: writes go to the leader as they come; all are
 * answered in their order, reads from what this server has executed by then.
 */
final class SimConnection {

    /** A command under way at the server. */
    class Request {
        private final SimCommand command;
        private @Nullable Answer answer;
        private long zxid;

        Request(SimCommand command) {
            this.command = command;
        }

        /** Some server has executed it; the client learns of it from its own server. */
        void committedAt(SimMember member, Answer committed, long at) {
            if (member == server) {
                answer = committed;
                zxid = at;
                drain();
            }
        }
    }

    private final SimEnsemble ensemble;
    private final SimMember server;
    private final SimHandle client;
    private final SimPipe toServer;
    private final SimPipe toClient;
    private final ArrayDeque<Request> requests = new ArrayDeque<>();
    private long session;
    private int timeout;
    private boolean openAtServer;

    SimConnection(SimEnsemble ensemble, SimMember server, SimHandle client) {
        this.ensemble = ensemble;
        this.server = server;
        this.client = client;
        toServer = ensemble.pipeFrom(client.process(), server);
        toClient = ensemble.pipeTo(server, client.process());
    }

    SimMember server() {
        return server;
    }

    long session() {
        return session;
    }

    // --- the client's side ---

    /** Asks for a session: a new one, or the client's own. */
    void ask(long id, int wanted, long seenZxid) {
        toServer.send(() -> accept(id, wanted, seenZxid));
    }

    void send(SimCommand command) {
        toServer.send(() -> arrives(command));
    }

    /** The client lets go of it. What it had sent may still arrive. */
    void closedByClient(boolean loseWhatIsUnderWay) {
        toClient.close();
        if (loseWhatIsUnderWay) {
            toServer.close();
            ensemble.later(() -> closedAtServer());
        } else {
            toServer.send(this::closedAtServer);
        }
    }

    /** The client's machine is gone: nobody tells the server. */
    void vanish() {
        toClient.close();
    }

    // --- the server's side ---

    private void accept(long id, int wanted, long seenZxid) {
        if (server.isDown() || !server.isServing() || seenZxid > server.tree.zxid()) {
            toClient.send(() -> client.arrives(() -> client.closed(this)));
            return;
        }
        openAtServer = true;
        server.connected(this);
        timeout = ensemble.negotiate(server, wanted);
        if (id == 0) {
            session = ensemble.newSessionId();
            Request request = new Request(new SimCommand.Ping()) {
                @Override
                void committedAt(SimMember member, Answer committed, long at) {
                    if (member == server) {
                        answerSession(true);
                    }
                }
            };
            server.toLeader((leader, back) -> leader.begins(server, session, timeout, request));
        } else {
            session = id;
            server.replaced(id, this);
            server.toLeader((leader, back) -> {
                boolean valid = leader.revalidate(server, id, timeout);
                back.accept(() -> answerSession(valid));
            });
        }
    }

    private void answerSession(boolean valid) {
        if (!openAtServer) {
            return;
        }
        long id = session;
        int agreed = timeout;
        toClient.send(() -> client.arrives(() -> client.established(this, id, valid ? agreed : 0)));
        if (!valid) {
            closedByServer(true);
        }
    }

    private void arrives(SimCommand command) {
        if (!openAtServer) {
            return;
        }
        server.touch(session, timeout);
        Request request = new Request(command);
        requests.add(request);
        if (command instanceof Write write) {
            server.toLeader((leader, back) -> leader.request(server, session, write, request));
        } else if (command instanceof SimCommand.Sync) {
            server.toLeader((leader, back) -> leader.sync(() -> back.accept(
                    () -> request.committedAt(server, new Answer(Code.OK.intValue(), ""), server.tree.zxid()))));
        }
        drain();
    }

    private void drain() {
        while (openAtServer && !requests.isEmpty()) {
            Request first = requests.element();
            Answer answer = first.answer;
            if (answer == null) {
                if (first.command instanceof Write || first.command instanceof SimCommand.Sync) {
                    return;
                }
                answer = read(first.command);
                first.zxid = server.tree.zxid();
            }
            requests.remove();
            if (answer.code() == Code.SESSIONMOVED.intValue()) {
                // The leader may have heard last of an older attempt to connect: the client has to come again.
                closedByServer(true);
                return;
            }
            Answer reply = answer;
            long zxid = first.zxid;
            toClient.send(() -> client.arrives(() -> client.replied(this, reply, zxid)));
        }
    }

    private Answer read(SimCommand command) {
        if (command instanceof SimCommand.Children children) {
            Answer answer = server.tree.children(children.path());
            if (children.watch() && answer.code() == Code.OK.intValue()) {
                server.watch(children.path(), this);
            }
            return answer;
        } else if (command instanceof SimCommand.Read read) {
            Answer answer = server.tree.read(read.path());
            if (read.watch() && answer.code() == Code.OK.intValue()) {
                server.watchData(read.path(), this);
            }
            return answer;
        } else if (command instanceof SimCommand.SetWatches watches) {
            watches.dataPaths().forEach(path -> watchDataAgain(path, watches.since()));
            watches.paths().forEach(path -> watchAgain(path, watches.since()));
            return new Answer(Code.OK.intValue(), "");
        } else if (command instanceof SimCommand.Ping) {
            return new Answer(Code.OK.intValue(), "");
        }
        throw new IllegalStateException("not modelled: " + command);
    }

    private void watchAgain(String path, long since) {
        Stat stat = server.tree.stat(path);
        if (stat == null) {
            tell(new SimTree.Change(EventType.NodeDeleted, path));
        } else if (stat.getPzxid() > since) {
            tell(new SimTree.Change(EventType.NodeChildrenChanged, path));
        } else {
            server.watch(path, this);
        }
    }

    private void watchDataAgain(String path, long since) {
        Stat stat = server.tree.stat(path);
        if (stat == null) {
            tell(new SimTree.Change(EventType.NodeDeleted, path));
        } else if (stat.getMzxid() > since) {
            tell(new SimTree.Change(EventType.NodeDataChanged, path));
        } else {
            server.watchData(path, this);
        }
    }

    void tell(SimTree.Change change) {
        if (openAtServer) {
            toClient.send(() -> client.arrives(() -> client.told(this, change)));
        }
    }

    /**
     * The server lets go of it.
     *
     * @param tells whether the client gets an answer, behind what was sent to it before
     */
    void closedByServer(boolean tells) {
        if (!openAtServer) {
            return;
        }
        closedAtServer();
        if (tells) {
            toClient.send(() -> client.arrives(() -> client.closed(this)));
        } else {
            toClient.close();
        }
    }

    private void closedAtServer() {
        openAtServer = false;
        requests.clear();
        server.disconnected(this);
    }
}
