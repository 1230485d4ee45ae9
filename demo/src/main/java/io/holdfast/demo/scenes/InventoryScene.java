package io.holdfast.demo.scenes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** A stock that is sold by several processes: first without the lock, where it goes wrong, then with it. */
final class InventoryScene implements Scene {

    private static final int ITEMS = 1_000;
    private static final int THREADS_EACH = 8;

    /** Without the lock the stock may go up again, and with bad luck for long. */
    private static final long UNLOCKED_MILLIS = 3_000;

    private static final long LOCKED_MILLIS = 50_000;

    @Override
    public String name() {
        return "inventory";
    }

    @Override
    public String title() {
        return "processes sell a stock of " + ITEMS + " items, each once";
    }

    @Override
    public void play(Stage stage, Verdict verdict) throws Exception {
        int sellers = stage.crew().all().size() * THREADS_EACH;
        stage.line().step(sellers + " threads sell " + ITEMS + " items without the lock");
        sell(stage, "unlocked shelf", false);
        List<String> unlocked = stage.shop().books().entries("unlocked shelf");
        int tooMany = unlocked.size() - new HashSet<>(unlocked).size();
        verdict.number("soldWithoutLock", unlocked.size());
        verdict.number("soldTwiceOrMoreWithoutLock", tooMany);

        stage.line().step(sellers + " threads sell " + ITEMS + " items with the lock");
        sell(stage, "locked shelf", true);
        List<String> locked = stage.shop().books().entries("locked shelf");
        int distinct = new HashSet<>(locked).size();
        long stock = stage.shop().books().read("locked shelf");
        verdict.number("soldWithLock", locked.size());
        verdict.number("stockAtEnd", stock);

        verdict.happened(String.format(
                Locale.ROOT,
                "%,d items: %,d sold without the lock (%,d too many), %,d with it, stock %d",
                ITEMS,
                unlocked.size(),
                tooMany,
                locked.size(),
                stock));
        verdict.check("without the lock items are sold more than once", tooMany > 0, tooMany + " too many");
        verdict.check(
                "with it each item is sold exactly once",
                locked.size() == ITEMS && distinct == ITEMS,
                locked.size() + " sales of " + distinct + " items");
        verdict.check("the stock ends at 0", stock == 0, stock);
        verdict.checkSection(stage.shop().books().section("locked shelf"));
        stage.checkHistory(verdict, stage.lock("inventory"), Stage.LONG_LEASE);
    }

    private void sell(Stage stage, String shelf, boolean locked) throws Exception {
        stage.shop().books().write(shelf, ITEMS);
        List<CompletableFuture<Message>> replies = new ArrayList<>();
        for (WorkerProcess worker : stage.crew().all()) {
            replies.add(
                    locked
                            ? worker.ask(
                                    "sell",
                                    "shelf",
                                    shelf,
                                    "threads",
                                    THREADS_EACH,
                                    "limit",
                                    LOCKED_MILLIS,
                                    "lock",
                                    stage.lock("inventory"),
                                    "lease",
                                    Stage.LONG_LEASE)
                            : worker.ask("sell", "shelf", shelf, "threads", THREADS_EACH, "limit", UNLOCKED_MILLIS));
        }
        stage.awaitAll(replies, () -> stage.shop().books().entries(shelf).size() + " sold");
    }
}
