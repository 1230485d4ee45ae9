package io.holdfast.verify.engine;

import java.util.SplittableRandom;

/** How bad a simulated network is. */
public final class Weather {

    /** Of any message, request or reply. */
    double loss;

    double duplicates;

    /** Of commands that meet the end of their connection. */
    double cuts;

    /** Whether a command that was cut off may be executed later all the same. */
    boolean executesWhatWasCut;

    public long delayNanosMax;

    /** Whether all that goes one way arrives in its order, as on one connection. */
    boolean keepsOrder;

    /**
     * Whether an acquire may be executed after the release of what it acquired: it was doubled, or cut off. Such a hold
     * ends with its lease only.
     */
    public boolean bringsBack;

    public static Weather random(SplittableRandom random) {
        Weather weather = new Weather();
        weather.loss = random.nextInt(3) * 0.05;
        weather.duplicates = random.nextInt(3) * 0.05;
        weather.cuts = random.nextInt(3) * 0.05;
        weather.executesWhatWasCut = weather.cuts > 0 && random.nextBoolean();
        weather.delayNanosMax = new long[] {1, 50, 400, 3_000}[random.nextInt(4)] * 1_000_000;
        weather.bringsBack = weather.duplicates > 0 || weather.executesWhatWasCut;
        return weather;
    }

    public static Weather fine() {
        Weather weather = new Weather();
        weather.keepsOrder = true;
        weather.becomeFine();
        return weather;
    }

    public void becomeFine() {
        loss = 0;
        duplicates = 0;
        cuts = 0;
        delayNanosMax = 1_000_000;
    }

    @Override
    public String toString() {
        return "loss %.2f, duplicates %.2f, cuts %.2f, delay up to %d ms"
                .formatted(loss, duplicates, cuts, delayNanosMax / 1_000_000);
    }
}
