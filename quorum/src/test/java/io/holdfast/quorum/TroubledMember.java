package io.holdfast.quorum;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreException;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A member at the other end of a network that a test makes slow, dead, deaf, or doubling. */
final class TroubledMember extends ForwardingMember {

    /** What happens to commands; may be changed at any time. */
    static final class Trouble {
        /** Refused at once: the server is down. */
        boolean down;
        /** Refused for good: this user has lost the right. */
        boolean forbidden;
        /** Requests do not arrive until this is off. Then all of them arrive, in order. */
        boolean stopped;
        /** Requests are executed, but their answers never arrive. */
        boolean mute;
        /** Requests for the lock are executed that much later than others, which overtake them. */
        long lateTakesNanos;
        /** The longest time that each direction takes. */
        long delayNanosMax;
        /** The share of requests that arrive twice, the second time up to ten times later. */
        double duplicates;
    }

    private static final long DRIVER_TIMEOUT_NANOS = 3_000_000_000L;

    private final VirtualTime time;
    private final Trouble trouble;
    private final SplittableRandom random;

    TroubledMember(QuorumMember member, VirtualTime time, Trouble trouble, SplittableRandom random) {
        super(member);
        this.time = time;
        this.trouble = trouble;
        this.random = random;
    }

    private <T> CompletionStage<T> send(Supplier<CompletionStage<T>> command) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (trouble.down) {
            answer.completeExceptionally(
                    new StoreException(StoreException.Outcome.NOT_EXECUTED, describe() + " is down", null));
            return answer;
        }
        if (trouble.forbidden) {
            answer.completeExceptionally(
                    new StoreException(StoreException.Outcome.FATAL, describe() + " does not let us", null));
            return answer;
        }
        arrive(command, answer);
        if (random.nextDouble() < trouble.duplicates) {
            time.schedule(random.nextLong(1 + 10 * trouble.delayNanosMax), () -> arrive(command, answer));
        }
        if (trouble.delayNanosMax > 0 || trouble.stopped || trouble.mute) {
            time.schedule(
                    DRIVER_TIMEOUT_NANOS,
                    () -> answer.completeExceptionally(
                            new StoreException(StoreException.Outcome.UNKNOWN, describe() + " did not answer", null)));
        }
        return answer;
    }

    private <T> void arrive(Supplier<CompletionStage<T>> command, CompletableFuture<T> answer) {
        Runnable execution = () -> {
            if (trouble.stopped) {
                time.schedule(10_000_000, () -> arrive(command, answer));
                return;
            }
            T reply = command.get().toCompletableFuture().join();
            if (!trouble.mute) {
                later(() -> answer.complete(reply));
            }
        };
        if (trouble.stopped) {
            time.schedule(10_000_000, execution);
        } else {
            later(execution);
        }
    }

    private void later(Runnable event) {
        if (trouble.delayNanosMax == 0) {
            event.run();
        } else {
            time.schedule(random.nextLong(trouble.delayNanosMax), event);
        }
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        long late = trouble.lateTakesNanos;
        if (late == 0) {
            return send(() -> member.take(take));
        }
        CompletableFuture<Vote> answer = new CompletableFuture<>();
        time.schedule(late, () -> member.take(take));
        time.schedule(
                DRIVER_TIMEOUT_NANOS,
                () -> answer.completeExceptionally(
                        new StoreException(StoreException.Outcome.UNKNOWN, describe() + " did not answer", null)));
        return answer;
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        return send(() -> member.extend(extension));
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        return send(() -> member.release(name, id, wake));
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        return send(() -> member.leave(name));
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        return send(() -> member.commit(name, id, token));
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
        return send(member::identify);
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return send(() -> member.admit(quarantineMillis));
    }
}
