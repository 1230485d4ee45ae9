package io.holdfast.zookeeper;

import io.holdfast.zookeeper.QueueSnapshot.Awaited;
import io.holdfast.zookeeper.Watches.Report;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches for the event after which a waiting node may hold: {@link QueueSnapshot#awaited} says which.
 *
 * <p>The event of a folder is followed by a look that watches the folder again. So each change costs one request, of
 * one client.
 *
 * <p>Only the work of the contender's {@link SerialQueue} uses it.
 */
final class PlaceWatch {

    private final Folder folder;
    private final SerialQueue work;
    private final PlaceView view;
    private final BiFunction<Session, Report, CompletableFuture<Boolean>> onEvent;
    private final BiFunction<Session, QueueSnapshot, CompletableFuture<Boolean>> onLook;

    private @Nullable Awaited awaited; // null if nothing is watched
    private int which; // counts the watches, so that a late event or answer has no effect
    private boolean looked; // whether the folder's watch was answered by a look
    private Runnable unwatch = () -> {};

    /**
     * @param onEvent runs as work of the queue when the event has happened, unless {@code onLook} does
     * @param onLook runs as work of the queue with what a look after the event has shown
     */
    PlaceWatch(
            Folder folder,
            SerialQueue work,
            PlaceView view,
            BiFunction<Session, Report, CompletableFuture<Boolean>> onEvent,
            BiFunction<Session, QueueSnapshot, CompletableFuture<Boolean>> onLook) {
        this.folder = folder;
        this.work = work;
        this.view = view;
        this.onEvent = onEvent;
        this.onLook = onLook;
    }

    /** Returns what is watched, for {@link PlaceView}; null if nothing is. */
    @Nullable
    Awaited awaited() {
        return awaited;
    }

    /** Watches for this event from now on, in place of another one. */
    void await(Session now, Awaited event) {
        if (event.equals(awaited)) {
            return;
        }
        stop();
        awaited = event;
        int asked = which;
        Consumer<Report> told = report -> work.addEvent(() -> happened(now, asked, report));
        unwatch = switch (event.event()) {
            case DELETED -> now.childWatches().await(folder.path(event.node()), told, nodes -> view.watchStands(event));
            case GRANTED ->
                now.dataWatches()
                        .await(
                                folder.path(event.node()),
                                told,
                                node -> watchesGrant(event, node, () -> told.accept(Report.CHANGED)));
            case CHANGED ->
                now.childWatches().await(folder.path(), told, nodes -> {
                    view.watchStands(event);
                    work.addEvent(() -> looked(now, asked, nodes));
                });
        };
    }

    /** A pool's node is written only when it holds. So one that was written was granted before it was watched. */
    private void watchesGrant(Awaited event, Session.Node node, Runnable granted) {
        if (node.stat().getVersion() > 0) {
            granted.run();
        } else {
            view.watchStands(event);
        }
    }

    private CompletableFuture<Boolean> happened(Session now, int asked, Report report) {
        Awaited event = awaited;
        if (asked != which || event == null) {
            return CompletableFuture.completedFuture(true);
        }
        boolean missing = event.equals(Awaited.FOLDER) && !looked;
        stop();
        if (report == Report.UNWATCHED) {
            // The next poll sets the watch.
            return CompletableFuture.completedFuture(true);
        }
        if (event.event() == QueueSnapshot.Event.DELETED || missing) {
            return onEvent.apply(now, report);
        }
        // The node is most likely the first that waits now, and looks with the watch that it needs then.
        await(now, Awaited.FOLDER);
        return CompletableFuture.completedFuture(true);
    }

    private CompletableFuture<Boolean> looked(Session now, int asked, List<String> nodes) {
        if (asked != which) {
            return CompletableFuture.completedFuture(true);
        }
        looked = true;
        return onLook.apply(now, folder.queue(nodes));
    }

    /** Watches nothing any more. */
    void stop() {
        awaited = null;
        looked = false;
        which++;
        view.watchEnds();
        unwatch.run();
        unwatch = () -> {};
    }
}
