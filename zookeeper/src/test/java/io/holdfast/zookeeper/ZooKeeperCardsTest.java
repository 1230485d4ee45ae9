package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoredCard;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the contract of cards does not cover: there are few nodes, and others may use the folder. */
@Timeout(120)
class ZooKeeperCardsTest {

    private static final Duration KEEP = Duration.ofMinutes(1);
    private static ZooKeeperEnsemble servers;
    private static ZooKeeper admin;

    @BeforeAll
    static void start() throws IOException {
        servers = ZooKeeperEnsemble.start(1);
        admin = new ZooKeeper(servers.servers(), 10_000, event -> {});
    }

    @AfterAll
    static void stop() throws InterruptedException {
        admin.close();
        servers.close();
    }

    @Test
    void a_card_ends_with_its_session() throws Exception {
        try (LockStore reader = store("a-reader", "/ends")) {
            try (LockStore writer = store("a-writer", "/ends")) {
                get(cards(writer).write("text", KEEP));
                assertThat(get(cards(reader).read())).hasSize(1);
            }
            assertThat(get(cards(reader).read())).isEmpty();
        }
    }

    @Test
    void a_card_of_which_one_node_was_deleted_is_written_again() throws Exception {
        try (LockStore writer = store("half", "/halves")) {
            get(cards(writer).write("one", KEEP));
            for (String node : List.of("half", "half~kept")) {
                admin.delete("/halves/~cards/" + node, -1);
                assertThat(get(cards(writer).read())).isEmpty();
                assertThat(get(cards(writer).keep(KEEP))).isFalse();
                assertThat(get(cards(writer).write("two", KEEP))).isEqualTo(1);
                assertThat(get(cards(writer).read("half")).map(StoredCard::text))
                        .contains("two");
            }
        }
    }

    @Test
    void nodes_of_others_are_no_cards() throws Exception {
        try (LockStore writer = store("mine", "/shared")) {
            get(cards(writer).write("text", KEEP));
            for (String node : List.of("%ZZ", "alone", "other~kept")) {
                admin.create("/shared/~cards/" + node, null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            assertThat(get(cards(writer).read()))
                    .extracting(StoredCard::clientId)
                    .containsExactly("mine");
        }
    }

    /** The servers check the rights to the folder of cards; the folders of locks are not affected. */
    @Test
    void a_client_without_the_right_to_the_folder_of_cards_has_locks_all_the_same() throws Exception {
        try (LockStore store = store("refused", "/refused")) {
            admin.create("/refused/~cards", null, ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT);
            assertThatThrownBy(() -> get(cards(store).write("text", KEEP)))
                    .hasCauseInstanceOf(StoreException.class)
                    .cause()
                    .hasMessageContaining("may use the node /refused/~cards")
                    .extracting(error -> ((StoreException) error).outcome())
                    .isEqualTo(StoreException.Outcome.FATAL);
            try (LockClient client = LockClient.connect(servers.uri() + "/refused")) {
                client.acquire("a").release();
            }
        }
    }

    private static LockStore store(String clientId, String folder) {
        return new ZooKeeperLockStoreProvider()
                .open(URI.create(servers.uri() + folder), new StoreContext(clientId, TimeSource.system()));
    }

    private static CardStore cards(LockStore store) {
        return store.cards().orElseThrow();
    }

    private static <T> T get(CompletionStage<T> stage) throws InterruptedException, ExecutionException {
        try {
            return stage.toCompletableFuture().get(40, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        }
    }
}
