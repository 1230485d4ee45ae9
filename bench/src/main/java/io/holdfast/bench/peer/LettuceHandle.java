package io.holdfast.bench.peer;

import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import java.time.Duration;

/** The limit: SET NX PX and a compare-and-delete script on one shared connection. */
final class LettuceHandle extends LettuceSpinning {

    private final String release = redis.load(COMPARE_AND_DELETE);
    private final SetArgs args;

    LettuceHandle(String uri, Duration lease) {
        super(uri);
        args = SetArgs.Builder.nx().px(lease.toMillis());
    }

    @Override
    RedisFuture<?> sendTake(String name, String holder) {
        return redis.commands().set(name, holder, args);
    }

    @Override
    RedisFuture<?> sendRelease(String name, String holder) {
        return redis.commands().evalsha(release, ScriptOutputType.INTEGER, new String[] {name}, holder);
    }
}
