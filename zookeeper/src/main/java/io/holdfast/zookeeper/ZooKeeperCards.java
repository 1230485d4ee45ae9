package io.holdfast.zookeeper;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;

/**
 * The cards of clients in ZooKeeper: two ephemeral nodes for each client, in a folder beside those of the locks. One
 * has the text. The other is empty and is written whenever the card is written or kept, so that an unchanged text is
 * not sent to all servers again. Both nodes end with the client's session, as its holds do, so the time for which to
 * keep a card does not matter.
 *
 * <p>Ages are by the leader's clock, which stamps every write. A reader writes to the folder to learn the leader's
 * time. No lock has the name of the folder, and no client id the suffix: {@link NodeNames} leaves no {@code ~} in a
 * name.
 */
final class ZooKeeperCards implements CardStore {

    private static final String FOLDER = "/~cards";
    private static final String KEPT = "~kept";
    private static final byte[] NOTHING = new byte[0];

    private final StoreAccess store;
    private final String folder;
    private final String own;

    /** @param root the folder of the locks */
    ZooKeeperCards(StoreAccess store, String root, String clientId) {
        this.store = store;
        this.folder = root + FOLDER;
        this.own = path(clientId);
    }

    private String path(String clientId) {
        return folder + "/" + NodeNames.encode(clientId);
    }

    @Override
    public CompletionStage<Integer> write(String text, Duration keep) {
        byte[] data = text.getBytes(StandardCharsets.UTF_8);
        return store.answer(() -> {
            Session session = store.session();
            return session.writeBoth(own, data, own + KEPT, NOTHING)
                    .exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                            ? make(session, data)
                            : CompletableFuture.failedFuture(error))
                    .thenCompose(done -> session.read(folder))
                    .thenApply(node -> Math.max(1, node.stat().getNumChildren() / 2));
        });
    }

    private CompletableFuture<List<OpResult>> make(Session session, byte[] data) {
        // One of the two may be left, if somebody has deleted the other.
        return removed(session)
                .thenCompose(gone -> Folder.make(session, folder))
                .thenCompose(made -> session.createBoth(own, data, own + KEPT, NOTHING));
    }

    @Override
    public CompletionStage<Boolean> keep(Duration keep) {
        return store.answer(
                () -> ifThere(store.session().writeIf(own, own + KEPT, NOTHING).thenApply(done -> true), () -> false));
    }

    @Override
    public CompletionStage<List<StoredCard>> read() {
        return store.answer(() -> {
            Session session = store.session();
            return ifThere(
                    now(session)
                            .thenCompose(now -> session.children(folder, null)
                                    .thenCompose(nodes -> all(session, clients(nodes), now))),
                    List::of);
        });
    }

    private static List<String> clients(List<String> nodes) {
        return nodes.stream()
                .filter(node -> node.indexOf('~') < 0)
                .map(ZooKeeperCards::clientId)
                .flatMap(Optional::stream)
                .toList();
    }

    /** Returns nothing for a node that was not created by a client of Holdfast. */
    private static Optional<String> clientId(String node) {
        try {
            return Optional.of(NodeNames.decode(node));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private CompletableFuture<List<StoredCard>> all(Session session, List<String> clients, long now) {
        List<CompletableFuture<Optional<StoredCard>>> reading = new ArrayList<>(clients.size());
        clients.forEach(client -> reading.add(card(session, client, now)));
        return CompletableFuture.allOf(reading.toArray(CompletableFuture[]::new))
                .thenApply(done -> reading.stream()
                        .map(CompletableFuture::join)
                        .flatMap(Optional::stream)
                        .toList());
    }

    @Override
    public CompletionStage<Optional<StoredCard>> read(String clientId) {
        return store.answer(() -> {
            Session session = store.session();
            return ifThere(now(session).thenCompose(now -> card(session, clientId, now)), Optional::empty);
        });
    }

    private CompletableFuture<Optional<StoredCard>> card(Session session, String client, long now) {
        String path = path(client);
        CompletableFuture<Session.Node> kept = session.read(path + KEPT);
        return ifThere(
                session.read(path)
                        .thenCombine(
                                kept,
                                (card, heard) -> Optional.of(new StoredCard(
                                        client,
                                        card.data(),
                                        age(now, card.stat().getMtime()),
                                        age(now, heard.stat().getMtime())))),
                Optional::empty);
    }

    /** Returns the age, at least zero: two leaders may have stamped the two times. */
    private static Duration age(long now, long then) {
        return Duration.ofMillis(Math.max(0, now - then));
    }

    private CompletableFuture<Long> now(Session session) {
        return session.write(folder, NOTHING).thenApply(stat -> stat.getMtime());
    }

    @Override
    public CompletionStage<Void> remove() {
        return store.answer(() -> removed(store.session()));
    }

    private CompletableFuture<Void> removed(Session session) {
        return CompletableFuture.allOf(
                ifThere(session.delete(own), () -> true), ifThere(session.delete(own + KEPT), () -> true));
    }

    private static <T> CompletableFuture<T> ifThere(CompletableFuture<T> command, Supplier<T> otherwise) {
        return command.exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                ? CompletableFuture.completedFuture(otherwise.get())
                : CompletableFuture.failedFuture(error));
    }
}
