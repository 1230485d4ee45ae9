package io.holdfast.redis.server;

import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.protocol.RedisProtocolException;
import java.net.ConnectException;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class OpeningErrorsTest {

    private static final String SERVER = "redis://h:6379/0";
    private static final OpeningErrors ERRORS = new OpeningErrors(RedisUris.parse(URI.create("redis://h:6379")));

    @Test
    void onlyTheDriversOwnMessageCountsAsAConnectionClosedAtOnce() {
        assertThat(notConnected(new IllegalStateException("RedisHandshakeHandler not registered")))
                .hasMessage(
                        SERVER + " closed the connection at once, and its reason was lost (it may be full: raise its"
                                + " maxclients, or close connections)");
        for (RuntimeException other : new RuntimeException[] {
            new IllegalStateException("executor not accepting a task"), new CancellationException("too late")
        }) {
            assertThat(notConnected(other))
                    .hasMessage(SERVER + " cannot be reached: " + other.getMessage()
                            + " (start the server, or correct host and port; a server with TLS needs rediss://)");
        }
    }

    /** Sentinels and nodes may announce names and addresses that exist in their own network only. */
    @Test
    void anAddressThatWasAnnouncedIsNamed() {
        OpeningErrors sentinels =
                new OpeningErrors(RedisUris.parse(URI.create("redis-sentinel://s1:26379,s2:26379#m")));
        assertThat(sentinels.notConnected(new RedisConnectionException(
                        "Unable to connect to redis-master/<unresolved>:6379",
                        new UnknownHostException("redis-master"))))
                .hasMessage("redis-master:6379, the master that the Sentinels of"
                        + " redis-sentinel://s1:26379,s2:26379/0#m announced, cannot be reached: its host name is"
                        + " unknown (start that server, or let the Sentinels announce an address that this client can"
                        + " reach)");
        OpeningErrors cluster = new OpeningErrors(RedisUris.parse(URI.create("redis-cluster://c1:7000")));
        assertThat(cluster.notConnected(new RedisConnectionException(
                        "Unable to connect to /172.17.0.3:7001", new ConnectException("connection timed out"))))
                .hasMessage("172.17.0.3:7001, a node that the cluster redis-cluster://c1:7000 announced, cannot be"
                        + " reached: connection timed out (start that server, or let the nodes announce an address that"
                        + " this client can reach)");
        assertThat(cluster.notConnected(new RedisConnectionException(
                        "Unable to connect to c1/<unresolved>:7000", new ConnectException("refused"))))
                .hasMessageStartingWith("redis-cluster://c1:7000 cannot be reached: refused (start the server");
    }

    /** These failures named the configured address, at which nothing was wrong. */
    @Test
    void anAddressThatWasAnnouncedIsNamedWhateverFailedThere() {
        OpeningErrors sentinels = new OpeningErrors(RedisUris.parse(URI.create("rediss-sentinel://s1:26379#m")));
        String master = "10.0.0.5:6380, the master that the Sentinels of rediss-sentinel://s1:26379/0#m announced";
        assertThat(sentinels.notConnected(new RedisConnectionException(
                        "Unable to connect to 10.0.0.5/<unresolved>:6380",
                        new SSLHandshakeException("No subject alternative names"))))
                .hasMessage("No TLS connection to " + master + ": No subject alternative names (the certificate must"
                        + " be for 10.0.0.5:6380 and from a CA that the JVM trusts; name another one with ?ca=/path/ca.pem; or let the Sentinels announce a name that"
                        + " the certificate is for)");
        assertThat(sentinels.notConnected(new RedisConnectionException(
                        "Unable to connect to 10.0.0.5/<unresolved>:6380",
                        new RedisCommandExecutionException("NOAUTH Authentication required."))))
                .hasMessageStartingWith(master + ", needs a password (");

        OpeningErrors cluster = new OpeningErrors(RedisUris.parse(URI.create("redis-cluster://c1:7000")));
        String node = "172.17.0.3:7001, a node that the cluster redis-cluster://c1:7000 announced";
        assertThat(cluster.notConnected(new RedisConnectionException(
                        "Unable to connect to /172.17.0.3:7001",
                        new RedisCommandExecutionException("WRONGPASS invalid username-password pair"))))
                .hasMessageStartingWith(node + ", refused the password of the default user (");
        assertThat(cluster.notConnected(new RedisConnectionException(
                        "Unable to connect to /172.17.0.3:7001", new RedisProtocolException("Invalid first byte: H"))))
                .hasMessage(node + ", is no Redis: it does not answer in Redis's protocol (let the nodes announce"
                        + " Redis; a server with TLS needs rediss://)");
        // The node that failed otherwise is not the one that refused the password.
        RedisConnectionException two = new RedisConnectionException(
                "Unable to connect to [c1/<unresolved>:7000]",
                new RedisCommandExecutionException("WRONGPASS invalid username-password pair"));
        two.addSuppressed(
                new RedisConnectionException("Unable to connect to /172.17.0.3:7001", new ConnectException("refused")));
        assertThat(cluster.notConnected(two))
                .hasMessageStartingWith("redis-cluster://c1:7000 refused the password of the default user (");
    }

    /** It was reported as a server that is not started. */
    @Test
    void aMissingClassIsAMatterOfTheClassPath() {
        Throwable missing = new NoClassDefFoundError("io/netty/channel/epoll/EpollIoHandler");
        StoreException error = notConnected(new RedisConnectionException("Unable to connect", missing));
        assertThat(error)
                .hasMessageStartingWith(SERVER + " cannot be opened, because the class path is wrong:"
                        + " NoClassDefFoundError, io.netty.channel.epoll.EpollIoHandler (")
                .hasMessageNotContaining("start the server");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
    }

    /** Each of these would get other advice if it were a failure of the connection. */
    static Stream<Exception> failuresOfProviders() {
        return Stream.of(
                new IllegalStateException("no token"),
                new ConnectException("no token"),
                new UnknownHostException("no token"),
                new TimeoutException("no token"),
                new RedisCommandExecutionException("WRONGPASS no token"));
    }

    @ParameterizedTest
    @MethodSource("failuresOfProviders")
    void aCredentialsProviderThatFailsHasItsOwnSentence(Exception failure) {
        Throwable later = catchThrowable(
                () -> marked(() -> Mono.error(failure)).resolveCredentials().block());
        StoreException error = notConnected(later);
        assertThat(error)
                .hasMessage("The credentials provider for " + SERVER + " failed: " + failure.getMessage()
                        + " (correct the provider's settings, or see that it can fetch the login)");
        assertThat(error.outcome()).isEqualTo(NOT_EXECUTED);
    }

    @Test
    void aProviderThatThrowsIsMarkedToo() {
        RedisCredentialsProvider throwing = () -> {
            throw new IllegalStateException("no token");
        };
        ImmediateRedisCredentialsProvider immediate = () -> {
            throw new IllegalStateException("no token");
        };
        Stream.of(
                        catchThrowable(
                                () -> marked(throwing).resolveCredentials().block()),
                        catchThrowable(
                                () -> marked(immediate).resolveCredentials().block()),
                        catchThrowable(
                                () -> ((ImmediateRedisCredentialsProvider) marked(immediate)).resolveCredentialsNow()))
                .forEach(failure -> assertThat(notConnected(failure))
                        .hasMessageStartingWith("The credentials provider for " + SERVER + " failed: no token ("));
    }

    /** The driver asks a provider in another way for each of its abilities. */
    @Test
    void aMarkedProviderKeepsItsAbilities() {
        RedisCredentials login = RedisCredentials.just("user", "password");
        ImmediateRedisCredentialsProvider immediate = () -> login;
        assertThat(((ImmediateRedisCredentialsProvider) marked(immediate)).resolveCredentialsNow())
                .isSameAs(login);
        assertThat(marked(immediate).resolveCredentials().block()).isSameAs(login);
        assertThat(marked(immediate).supportsStreaming()).isFalse();

        RedisCredentialsProvider streaming = new RedisCredentialsProvider() {
            @Override
            public Mono<RedisCredentials> resolveCredentials() {
                return Mono.just(login);
            }

            @Override
            public boolean supportsStreaming() {
                return true;
            }

            @Override
            public Flux<RedisCredentials> credentials() {
                return Flux.just(login);
            }
        };
        assertThat(marked(streaming)).isNotInstanceOf(ImmediateRedisCredentialsProvider.class);
        assertThat(marked(streaming).resolveCredentials().block()).isSameAs(login);
        assertThat(marked(streaming).supportsStreaming()).isTrue();
        assertThat(marked(streaming).credentials().blockFirst()).isSameAs(login);

        RedisCredentialsProvider fixed = new StaticCredentialsProvider("user", "password".toCharArray());
        assertThat(marked(fixed)).isSameAs(fixed);
    }

    private static RedisCredentialsProvider marked(RedisCredentialsProvider provider) {
        RedisURI uri = RedisURI.create("redis://h");
        uri.setCredentialsProvider(provider);
        return LoginProvider.mark(uri).getCredentialsProvider();
    }

    /** Returns the exception that a user gets for a failure that the driver reports as its own. */
    private static StoreException notConnected(Throwable cause) {
        return ERRORS.notConnected(new ExecutionException(
                new RedisConnectionException("Unable to connect to h/<unresolved>:6379", cause)));
    }
}
