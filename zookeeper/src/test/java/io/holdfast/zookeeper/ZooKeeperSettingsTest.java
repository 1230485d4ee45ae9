package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.common.PathUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can be written into a URI, and how names become nodes. */
class ZooKeeperSettingsTest {

    @Test
    void a_whole_uri_is_read() {
        ZooKeeperSettings settings =
                parse("zookeeper://us%40er:p%2Fw%3Ad@h1:2182,h2/a/b/?sessionTimeout=12s&timeout=700ms&acl=read");
        assertThat(settings.servers()).isEqualTo("h1:2182,h2:2181");
        assertThat(settings.folder()).isEqualTo("/a/b");
        assertThat(settings.login()).isEqualTo("us@er:p/w:d");
        assertThat(settings.sessionTimeout()).isEqualTo(Duration.ofSeconds(12));
        assertThat(settings.timeout()).isEqualTo(Duration.ofMillis(700));
        assertThat(settings.access()).isEqualTo(ZooKeeperSettings.Access.READ);
        assertThat(settings.describe()).isEqualTo("zookeeper://h1:2182,h2:2181/a/b");
    }

    /** Java's parser takes no brackets in a list of hosts. */
    @ParameterizedTest
    @CsvSource({
        "zookeeper://[::1], '[::1]:2181'",
        "'zookeeper://%5B::1%5D:2182,%5B::2%5D', '[::1]:2182,[::2]:2181'",
        "'zookeeper://u:p@%5Bfe80::1%5D,h2', '[fe80::1]:2181,h2:2181'"
    })
    void addresses_of_the_sixth_version_are_read_also_in_a_list(String uri, String servers) {
        assertThat(parse(uri).servers()).isEqualTo(servers);
    }

    @Test
    void what_is_left_out_has_a_default() {
        ZooKeeperSettings settings = parse("zookeeper://host");
        assertThat(settings.servers()).isEqualTo("host:2181");
        assertThat(settings.folder()).isEqualTo("/holdfast");
        assertThat(settings.access()).isEqualTo(ZooKeeperSettings.Access.OPEN);
        assertThat(parse("zookeeper://a:b@host").access()).isEqualTo(ZooKeeperSettings.Access.CREATOR);
    }

    @ParameterizedTest
    @CsvSource({"zookeeper://h1, 25000", "zookeeper://h1?sessionTimeout=9s&timeout=1s, 7000"})
    void a_dead_connection_is_noticed_after_two_thirds_of_the_session(String uri, long millis) {
        assertThat(parse(uri).recovery()).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @CsvSource({
        "zookeeper://h1, 5000",
        "zookeeper://h1?timeout=300ms, 300",
        "'zookeeper://h1,h2', 5000",
        "'zookeeper://h1,h2,h3', 16000",
        "'zookeeper://h1,h2,h3,h4,h5?sessionTimeout=10s&timeout=2s', 8000"
    })
    void the_first_connection_has_time_for_servers_that_are_off(String uri, long millis) {
        assertThat(parse(uri).connectMillis()).isEqualTo(millis);
    }

    @ParameterizedTest
    @CsvSource({
        "zookeeper:host, host: missing",
        "zookeeper:///locks, host: missing",
        "'zookeeper://h1,,h2', host: missing",
        "zookeeper://h1:0, port: not a number from 1 to 65535",
        "zookeeper://h1:70000, port: not a number from 1 to 65535",
        "zookeeper://u@h1, login: incomplete",
        "zookeeper://h1/a//b, folder: not a path",
        "zookeeper://h1/../b, folder: not a path",
        "zookeeper://h1/zookeeper/x, outside of /zookeeper",
        "zookeeper://h1?session=3s, option: unknown name",
        "zookeeper://h1?timeout=3s&timeout=4s, there twice",
        "zookeeper://h1?sessionTimeout=1, sessionTimeout: \"1\"",
        "zookeeper://h1?sessionTimeout=11m, 300ms to 10m",
        "zookeeper://h1?acl=mine, acl: \"mine\"",
        "zookeeper://h1?acl=creator, without a login",
        "zookeeper://h1?tls=yes, true or false",
        "zookeeper://h1?ca=/x.pem, only with tls=true",
        "zookeeper://h1?tls=true&ca=/no/such.pem, a file that can be read"
    })
    void what_is_wrong_is_named(String uri, String said) {
        assertThatThrownBy(() -> parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("zookeeper URI, ")
                .hasMessageContaining(said)
                .hasMessageContaining("(expected: ");
    }

    @ParameterizedTest
    @CsvSource({
        "zookeeper://user:secret/x@h1",
        "zookeeper://user:secret@h1:x",
        "zookeeper://user:secret",
        "zookeeper://user:secret/locks",
        "'zookeeper://user:secret,h2'",
        "zookeeper://user:secret:2181",
        "'zookeeper://user:123,,secret'",
        "zookeeper://user:p@secret$",
        "zookeeper://user:123/secret//x",
        "zookeeper://user:123?secret=1",
        "zookeeper://secret$"
    })
    void the_password_is_never_shown(String uri) {
        assertThatThrownBy(() -> parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    void any_name_is_one_node_and_comes_back() {
        List<String> names = List.of(
                "order:1",
                "a/b",
                "/",
                ".",
                "..",
                "...",
                "%2F",
                "a b",
                "Größe",
                "🔒",
                "\uD83D",
                "\uDD12\uD83D",
                "a~1~2",
                "\u0000\n",
                "zookeeper");
        for (String name : names) {
            String node = NodeNames.encode(name);
            assertThat(node).doesNotContain("/", "~");
            PathUtils.validatePath("/holdfast/" + node);
            assertThat(NodeNames.decode(node)).isEqualTo(name);
        }
        assertThat(names.stream().map(NodeNames::encode).distinct()).hasSameSizeAs(names);
    }

    @Test
    void a_queue_is_in_the_order_of_creation() {
        QueueSnapshot queue = QueueSnapshot.of(
                List.of("c~1~0000000010", "x", "a~1~0000000009", "y~z", "b~1~2147483647", "d~1~-2147483648"));
        assertThat(queue.size()).isEqualTo(4);
        assertThat(List.of(queue.node(0), queue.node(1), queue.node(2), queue.node(3)))
                .containsExactly("a~1~0000000009", "c~1~0000000010", "b~1~2147483647", "d~1~-2147483648");
        assertThat(queue.holder()).isEqualTo("a");
        assertThat(queue.foreign()).isNotNull();
    }

    @Test
    void a_zxid_beyond_what_tokens_can_hold_is_refused_loudly() {
        assertThat(TokenBase.of(0x1_ffff_ffff_ffffL, "here")).isEqualTo((1L << 49) - 1);
        assertThatThrownBy(() -> TokenBase.of(0x2_0000_0000_0000L, "here"))
                .hasMessageContaining("epoch 131072")
                .hasMessageContaining("131071");
        assertThatThrownBy(() -> TokenBase.of(-1, "here")).hasMessageContaining("No fencing token");
    }

    private static ZooKeeperSettings parse(String uri) {
        return ZooKeeperSettings.parse(URI.create(uri));
    }
}
