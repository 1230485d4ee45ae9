package io.holdfast.demo.scenes;

import io.holdfast.LockClient;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;

/** Plays the scenes, one after the other, on one store. */
public final class Demo {

    /** In this order: the crash costs a process, and the last scene needs only two. */
    private static final List<Scene> SCENES = List.of(
            new RefundScene(), new InventoryScene(), new LongJobScene(), new CrashScene(), new LateWriterScene());

    private static final int PROCESSES = 3;

    private Demo() {}

    /** The names of all scenes, in their order. */
    public static List<String> sceneNames() {
        return SCENES.stream().map(Scene::name).toList();
    }

    /**
     * Plays the scenes with these names.
     *
     * @param uri of the store
     * @param remark what to say of it, behind what it calls itself: the URI may have secrets in it
     * @param progress where to say how far it has come
     * @param live whether that is a terminal
     * @throws IOException if a process cannot be started
     */
    public static Summary play(
            String uri, String remark, Set<String> names, PrintWriter progress, boolean live, boolean debug)
            throws IOException, InterruptedException {
        List<Scene> scenes =
                SCENES.stream().filter(scene -> names.contains(scene.name())).toList();
        try (Cleanup cleanup = new Cleanup()) {
            // First of all: a store that cannot be used is found out before processes are started for it.
            LockClient observer = cleanup.atEnd(LockClient.connect(uri));
            String shown = observer.describeStore() + remark;
            progress.println("Playing on " + shown);
            return play(uri, shown, scenes, observer, new Progress(progress, live), debug, cleanup);
        }
    }

    private static Summary play(
            String uri,
            String shown,
            List<Scene> scenes,
            LockClient observer,
            Progress progress,
            boolean debug,
            Cleanup cleanup)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        Shop shop = cleanup.atEnd(Shop.open());
        Histories histories = cleanup.atEnd(new Histories());
        Crew crew = cleanup.atEnd(new Crew(PROCESSES, debug));
        Progress.Line start = progress.line("processes");
        Stage hall = new Stage(
                crew,
                shop,
                histories,
                observer,
                "holdfast-demo:" + random() + ":",
                !uri.startsWith("zookeeper:"),
                start);
        start.step("start " + PROCESSES + " processes");
        try {
            hall.awaitAll(crew.connect(uri, shop.port(), Stage.LONG_LEASE, histories), () -> "");
        } catch (InterruptedException | IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("The processes of the demonstration do not answer: " + e.getMessage(), e);
        }
        start.end(true);

        List<Result> results = new ArrayList<>();
        for (Scene scene : scenes) {
            results.add(play(
                    scene,
                    new Stage(
                            crew,
                            shop,
                            histories,
                            observer,
                            hall.prefix(),
                            hall.exactEnds(),
                            progress.line(scene.name()))));
        }
        return new Summary(shown, results, millisSince(begun));
    }

    private static Result play(Scene scene, Stage stage) throws InterruptedException {
        long begun = System.nanoTime();
        Verdict verdict = new Verdict();
        try {
            scene.play(stage, verdict);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            verdict.check("the scene is played to its end", false, e);
        }
        Result result = verdict.result(scene, millisSince(begun));
        stage.line().end(result.held());
        return result;
    }

    private static long millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1_000_000;
    }

    /** So that two demonstrations on one store do not meet. */
    private static String random() {
        byte[] bits = new byte[6];
        new SecureRandom().nextBytes(bits);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bits);
    }
}
