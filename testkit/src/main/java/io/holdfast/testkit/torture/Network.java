package io.holdfast.testkit.torture;

import io.holdfast.testkit.faults.FaultProxy;
import java.util.List;
import java.util.Random;

/** The proxies on the way to servers, and their faults: of one proxy, or of all at once. */
final class Network implements AutoCloseable {

    private static final int LONGEST_MILLIS = 4_000;

    private final List<FaultProxy> proxies;

    Network(List<FaultProxy> proxies) {
        this.proxies = List.copyOf(proxies);
    }

    /** Returns the faults on the way to one server. */
    List<TortureFault> faultsOfOne() {
        return List.of(
                TortureFault.of("connections cut", random -> any(random).cutAll()),
                TortureFault.of("network gone", random -> gone(List.of(any(random)), random)),
                TortureFault.of("requests held up", random -> held(any(random), FaultProxy::holdRequests, random)),
                TortureFault.of("replies held up", random -> held(any(random), FaultProxy::holdReplies, random)),
                TortureFault.of("replies lost", random -> {
                    FaultProxy proxy = any(random);
                    proxy.dropReplies(true);
                    Thread.sleep(random.nextInt(LONGEST_MILLIS / 2));
                    // Replies no longer match requests: none of these connections, nor a new one, may continue.
                    proxy.refuse(true);
                    proxy.cutAll();
                    proxy.dropReplies(false);
                    proxy.refuse(false);
                }));
    }

    /** Returns a fault by which no server can be reached for a while. */
    TortureFault allGone() {
        return TortureFault.of("network gone to all servers", random -> gone(proxies, random));
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
    }

    private FaultProxy any(Random random) {
        return proxies.get(random.nextInt(proxies.size()));
    }

    private static void gone(List<FaultProxy> those, Random random) throws InterruptedException {
        those.forEach(proxy -> {
            proxy.refuse(true);
            proxy.cutAll();
        });
        Thread.sleep(random.nextInt(LONGEST_MILLIS));
        those.forEach(proxy -> proxy.refuse(false));
    }

    private interface Holding {
        void hold(FaultProxy proxy, boolean on);
    }

    private static void held(FaultProxy proxy, Holding holding, Random random) throws InterruptedException {
        holding.hold(proxy, true);
        Thread.sleep(random.nextInt(LONGEST_MILLIS));
        holding.hold(proxy, false);
    }
}
