package io.holdfast.verify.quorum;

import io.holdfast.memory.VirtualTime;
import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.TokenRegister;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreContext;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.SimTime;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One process's view of one server of a quorum, at the other end of a bad network; with a {@link QuorumBug}. */
final class SimQuorumMember implements QuorumMember, SimLine.Listener {

    /** Learns of each vote of a member, and of each number that it has accepted. */
    interface Registers {
        void voted(String name, String id);

        void written(String name, String id, long token);
    }

    private final SimQuorumNode server;
    private final StoreContext context;
    private final QuorumBug bug;
    private final Registers registers;
    final SimLine line;
    private QuorumMember member;
    private @Nullable Listener listener;

    SimQuorumMember(
            SimQuorumNode server,
            String processId,
            VirtualTime world,
            SimTime process,
            SplittableRandom random,
            QuorumBug bug,
            Registers registers) {
        this.server = server;
        this.context = new StoreContext(processId, process);
        this.bug = bug;
        this.registers = registers;
        this.member = server.node.connect(context);
        this.line = new SimLine(world, process, server, server.weather, random, this);
        hear();
    }

    // --- the connection ---

    private void hear() {
        member.listen(new Listener() {
            @Override
            public void released(String name, int rank) {
                if (bug != QuorumBug.RELEASE_WAKES_NOBODY) {
                    tell(receiver -> receiver.released(name, rank));
                }
            }

            @Override
            public void contended(String name, String id) {
                tell(receiver -> receiver.contended(name, id));
            }

            @Override
            public void forced(String name, String id) {
                tell(receiver -> receiver.forced(name, id));
            }

            @Override
            public void reconnected() {
                // The line knows that better.
            }
        });
    }

    private void tell(Consumer<Listener> message) {
        line.message(() -> {
            Listener receiver = listener;
            if (receiver != null) {
                message.accept(receiver);
            }
        });
    }

    /** Told before the first command on the new connection. */
    @Override
    public void connected() {
        Listener receiver = listener;
        if (receiver != null) {
            context.time().schedule(0, receiver::reconnected);
        }
    }

    @Override
    public void listensAgain() {
        member = server.node.connect(context);
        hear();
        connected();
    }

    @Override
    public void deaf() {
        member.close();
    }

    // --- commands ---

    private <T> CompletionStage<T> send(Supplier<CompletionStage<T>> command) {
        return line.send(() -> command.get().toCompletableFuture().join());
    }

    private Standing shown(Standing standing) {
        return bug == QuorumBug.EMPTY_MEMBER_IS_NOT_NOTICED ? new Standing("known", 0) : standing;
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        return send(() -> {
            if (bug == QuorumBug.VOTES_FOR_TWO) {
                var unused = member.forceRelease(take.name(), null);
            }
            return member.take(take).thenApply(vote -> voted(take, vote));
        });
    }

    private Vote voted(Take take, Vote vote) {
        if (vote.holds()) {
            registers.voted(take.name(), take.id());
        }
        boolean accepted = vote.accepted();
        long register = vote.register();
        if (vote.holds() && hasWrongTokens()) {
            TokenRegister wrong = wrongRegister(take.name());
            if (bug == QuorumBug.TOKEN_IS_THE_LARGEST_COUNT && !wrong.id().equals(take.id())) {
                wrong = new TokenRegister(wrong.token() + 1, take.id());
                server.wrongRegisters.put(take.name(), wrong);
            }
            accepted = false;
            register = wrong.token();
        } else if (accepted) {
            registers.written(take.name(), take.id(), take.proposal());
        }
        return new Vote(
                shown(vote.standing()),
                vote.holds(),
                vote.holder(),
                vote.remainingMillis(),
                accepted,
                register,
                vote.waiting());
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        return send(() -> {
            if (!hasWrongTokens()) {
                return bug == QuorumBug.TOKEN_WITHOUT_COMMIT
                        ? member.inspect(name).thenApply(seen -> wrote(name, id, token, seen.standing()))
                        : member.commit(name, id, token).thenApply(written -> {
                            if (written.accepted()) {
                                registers.written(name, id, token);
                            }
                            return new Written(shown(written.standing()), written.accepted(), written.register());
                        });
            }
            return member.inspect(name).thenApply(seen -> writeWrongly(name, id, token, seen));
        });
    }

    private Written writeWrongly(String name, String id, long token, Seen seen) {
        TokenRegister wrong = wrongRegister(name);
        if (bug != QuorumBug.TOKEN_IS_THE_LARGEST_COUNT && token >= wrong.token()) {
            server.wrongRegisters.put(name, new TokenRegister(token, id));
        }
        return wrote(name, id, token, seen.standing());
    }

    private Written wrote(String name, String id, long token, Standing standing) {
        registers.written(name, id, token);
        return new Written(standing, true, token);
    }

    private boolean hasWrongTokens() {
        return bug == QuorumBug.TOKEN_IS_THE_LARGEST_COUNT || bug == QuorumBug.TOKEN_WRITTEN_BACK_WITHOUT_COMPARISON;
    }

    /** Begins at the clock, as the right ones do: what is found is not that they begin at zero. */
    private TokenRegister wrongRegister(String name) {
        return server.wrongRegisters.computeIfAbsent(
                name, n -> new TokenRegister(1_800_000_000_000L * 16 + server.now() / 62_500, ""));
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        return send(() -> member.extend(extension)
                .thenApply(extended -> new Extended(
                        shown(extended.standing()),
                        bug == QuorumBug.RENEWS_WHAT_IS_GONE ? Found.HELD : extended.found(),
                        extended.waiting())));
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        return send(() -> {
            if (bug == QuorumBug.VOTES_ARE_NOT_GIVEN_BACK && !wake) {
                return member.inspect(name).thenApply(seen -> new Released(seen.standing(), true, seen.waiting()));
            }
            if (bug == QuorumBug.RELEASE_WITHOUT_OWNER_CHECK) {
                var unused = member.forceRelease(name, null);
            }
            return member.release(name, id, wake)
                    .thenApply(released ->
                            new Released(shown(released.standing()), released.wasHeld(), released.waiting()));
        });
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        return send(() -> member.leave(name));
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        return send(() -> member.inspect(name));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return send(() -> member.forceRelease(name, holder));
    }

    @Override
    public CompletionStage<Identity> identify() {
        return send(() -> member.identify()
                .thenApply(who -> bug == QuorumBug.EMPTY_MEMBER_IS_NOT_NOTICED
                        ? new Identity(describe(), "", shown(who.standing()), who.uptimeMillis(), who.doubts())
                        : who));
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return send(() -> member.admit(bug == QuorumBug.EMPTY_MEMBER_VOTES_AT_ONCE ? 0 : quarantineMillis));
    }

    @Override
    public void listen(@Nullable Listener receiver) {
        listener = receiver;
    }

    @Override
    public String describe() {
        return member.describe();
    }

    @Override
    public void close() {
        listener = null;
        member.close();
    }
}
