package io.holdfast.verify.quorum;

import io.holdfast.quorum.TokenRegister;
import io.holdfast.quorum.VerifyQuorum;
import org.jspecify.annotations.Nullable;

/**
 * A way to agree on tokens, for the model checker: what a member does with a request, and what a client makes of the
 * answers. {@link Strict} is the product's own code; the others are schemes that are used elsewhere, and wrong.
 */
interface TokenScheme {

    /** What a member answers. */
    record Answer(TokenRegister register, boolean accepted, long number) {}

    /** The member grants the lock to this id, and is asked to note the proposal. */
    Answer take(TokenRegister register, long proposal, String id);

    /**
     * The member is asked to write a candidate.
     *
     * @param holds whether this id holds the lock there
     */
    Answer commit(TokenRegister register, long candidate, String id, boolean holds);

    /** The token, if the answers to the request for the lock, a majority of which granted it, decide it. */
    @Nullable
    Long decidedByTake(VerifyQuorum.Round round);

    /** Whether {@link #commit} looks at the holder of the lock: if not, the model need not know. */
    default boolean looksAtLocks() {
        return false;
    }

    /** {@link TokenRegister} and its round, as the store uses them. */
    final class Strict implements TokenScheme {
        @Override
        public Answer take(TokenRegister register, long proposal, String id) {
            return write(register, proposal, id);
        }

        @Override
        public Answer commit(TokenRegister register, long candidate, String id, boolean holds) {
            return write(register, candidate, id);
        }

        private static Answer write(TokenRegister register, long token, String id) {
            TokenRegister after = register.write(token, id);
            return new Answer(after, register.admits(token, id), after.token());
        }

        @Override
        public @Nullable Long decidedByTake(VerifyQuorum.Round round) {
            return round.isCommitted() ? round.candidate() : null;
        }
    }

    /**
     * Each member counts up by one for each id; the token is the largest count in the answers. Nothing is written back.
     */
    final class MaximumOfCounters implements TokenScheme {
        @Override
        public Answer take(TokenRegister register, long proposal, String id) {
            TokenRegister after = register.id().equals(id) ? register : new TokenRegister(register.token() + 1, id);
            return new Answer(after, true, after.token());
        }

        @Override
        public Answer commit(TokenRegister register, long candidate, String id, boolean holds) {
            throw new IllegalStateException("never asked");
        }

        @Override
        public Long decidedByTake(VerifyQuorum.Round round) {
            return round.highest();
        }
    }

    /** The largest number in the answers + 1 is written back to a majority; members take it unless theirs is larger. */
    final class UnconditionalWriteBack implements TokenScheme {
        @Override
        public Answer take(TokenRegister register, long proposal, String id) {
            return new Answer(register, false, register.token());
        }

        @Override
        public Answer commit(TokenRegister register, long candidate, String id, boolean holds) {
            TokenRegister after = candidate >= register.token() ? new TokenRegister(candidate, id) : register;
            return new Answer(after, true, candidate);
        }

        @Override
        public @Nullable Long decidedByTake(VerifyQuorum.Round round) {
            return null;
        }
    }

    /** The same, but only where the id still holds the lock. */
    final class WriteBackWhileHolding implements TokenScheme {
        @Override
        public Answer take(TokenRegister register, long proposal, String id) {
            return new Answer(register, false, register.token());
        }

        @Override
        public Answer commit(TokenRegister register, long candidate, String id, boolean holds) {
            if (!holds || candidate < register.token()) {
                return new Answer(register, false, register.token());
            }
            return new Answer(new TokenRegister(candidate, id), true, candidate);
        }

        @Override
        public @Nullable Long decidedByTake(VerifyQuorum.Round round) {
            return null;
        }

        @Override
        public boolean looksAtLocks() {
            return true;
        }
    }
}
