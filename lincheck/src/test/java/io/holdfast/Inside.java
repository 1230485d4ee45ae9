package io.holdfast;

import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import java.util.function.Consumer;

/** Opens to tests of other packages what {@link LockClient} keeps to its package. */
public final class Inside {

    private Inside() {}

    /** Returns the open engine of a client. */
    public static Engine engine(LockClient client) {
        return client.engine();
    }

    /** Returns the builder with ids, randomness and rules that the test controls. */
    public static LockClient.Builder settings(LockClient.Builder builder, Consumer<EngineSettings> change) {
        return builder.settings(change);
    }
}
