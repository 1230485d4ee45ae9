package io.holdfast.redis.server;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asks a user's credentials provider, and marks its failures. The driver reports them among those of the connection,
 * and a token service that cannot be reached would otherwise look like a Redis that cannot be reached.
 */
public class LoginProvider implements RedisCredentialsProvider {

    /** The failure of a user's credentials provider, which is the cause. */
    static final class LoginFailure extends RuntimeException {

        private static final long serialVersionUID = 1;

        LoginFailure(Throwable cause) {
            super(cause);
        }
    }

    private final RedisCredentialsProvider users;

    private LoginProvider(RedisCredentialsProvider users) {
        this.users = users;
    }

    /** Marks the failures of a URI's credentials provider, and returns the URI. */
    public static RedisURI mark(RedisURI uri) {
        RedisCredentialsProvider users = uri.getCredentialsProvider();
        // A fixed login cannot fail.
        if (!(users instanceof StaticCredentialsProvider)) {
            uri.setCredentialsProvider(
                    users instanceof ImmediateRedisCredentialsProvider immediate
                            ? new Immediate(immediate)
                            : new LoginProvider(users));
        }
        return uri;
    }

    @Override
    public Mono<RedisCredentials> resolveCredentials() {
        return Mono.defer(users::resolveCredentials).onErrorMap(LoginFailure::new);
    }

    @Override
    public boolean supportsStreaming() {
        return users.supportsStreaming();
    }

    @Override
    public Flux<RedisCredentials> credentials() {
        return users.credentials();
    }

    /** A provider with the login at hand, which the driver asks without waiting. */
    private static final class Immediate extends LoginProvider implements ImmediateRedisCredentialsProvider {

        private final ImmediateRedisCredentialsProvider users;

        Immediate(ImmediateRedisCredentialsProvider users) {
            super(users);
            this.users = users;
        }

        @Override
        public RedisCredentials resolveCredentialsNow() {
            try {
                return users.resolveCredentialsNow();
            } catch (RuntimeException e) {
                throw new LoginFailure(e);
            }
        }
    }
}
