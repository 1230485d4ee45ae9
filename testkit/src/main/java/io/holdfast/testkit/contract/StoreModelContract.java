package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** The part of the contract that compares a store with the simplest model of one, command by command. */
abstract class StoreModelContract extends RecordContract {

    private static final int STEPS = 250;

    /** Sends random commands of several clients, with old ids and repetitions; {@code -Dseed=…} replays a run. */
    @QueueTest
    void aStoreDoesWhatTheModelDoes() {
        long seed = Long.getLong("seed", new Random().nextLong());
        Random random = new Random(seed);
        Model model = new Model(List.of(a, b, c), name);
        List<String> steps = new ArrayList<>();
        try {
            for (int i = 0; i < STEPS; i++) {
                model.step(random, steps);
            }
        } catch (AssertionError e) {
            List<String> last = steps.subList(Math.max(0, steps.size() - 30), steps.size());
            throw new AssertionError(
                    "-Dseed=" + seed + ", step " + steps.size() + ", the last of them:\n" + String.join("\n", last), e);
        }
    }

    /** One name: a holder and a queue. No time passes, so no hold expires. */
    private static final class Model {

        private final List<StoreClient> clients;
        private final String name;
        private final List<String> ids = new ArrayList<>(); // all that were ever used, each once
        private final List<String> queue = new ArrayList<>();
        private @Nullable String holder;
        private long holdersBase;
        private long lastBase;

        Model(List<StoreClient> clients, String name) {
            this.clients = clients;
            this.name = name;
        }

        void step(Random random, List<String> steps) {
            int kind = random.nextInt(10);
            String id = anyId(random);
            if (kind < 2) {
                id = newId(random);
                steps.add("take " + id);
                expectAcquired(id, client(id).take(name, id, LONG), false);
            } else if (kind < 5) {
                // Not an id that has ended: a late acquire of it would take the name, as the first did.
                id = queue.isEmpty() || random.nextBoolean() ? newId(random) : queue.get(random.nextInt(queue.size()));
                steps.add("queue " + id);
                expectAcquired(id, client(id).queue(name, id, LONG, MEDIUM), true);
            } else if (kind < 7) {
                steps.add("release " + id);
                boolean holds = id.equals(holder);
                assertThat(client(id).release(name, id)).isEqualTo(holds);
                if (holds) {
                    passOn();
                }
            } else if (kind < 8) {
                String next = client(id).newId();
                steps.add("release " + id + " and queue " + next);
                releaseAndQueue(id, next);
            } else if (kind < 9) {
                steps.add("abandon " + id);
                queue.remove(id);
                boolean holds = id.equals(holder);
                assertThat(client(id).abandon(name, id)).isEqualTo(holds);
                if (holds) {
                    passOn();
                }
            } else {
                steps.add("renew " + id);
                var reply = client(id).renew(name, id, LONG, 0);
                if (id.equals(holder)) {
                    assertThat(reply).isInstanceOf(Renewed.class);
                    Renewed renewed = (Renewed) reply;
                    assertThat(renewed.waiting()).isEqualTo(queue.size());
                } else {
                    assertThat(reply).isEqualTo(new Gone());
                }
            }
            expectState();
        }

        private void expectAcquired(String id, AcquireReply reply, boolean queueing) {
            if (holder == null) {
                holder = id;
            }
            if (id.equals(holder)) {
                expectGranted(reply);
                return;
            }
            if (queueing && !queue.contains(id)) {
                queue.add(id);
            }
            assertThat(busy(reply).holder()).isEqualTo(holder);
            if (queueing) {
                assertThat(busy(reply).ahead()).isEqualTo(queue.indexOf(id));
            }
        }

        private void releaseAndQueue(String id, String next) {
            boolean holds = id.equals(holder);
            ReleaseReply reply = client(id).releaseAndQueue(name, id, StoreClient.queueing(name, next, LONG, MEDIUM));
            assertThat(reply.wasHeld()).isEqualTo(holds);
            if (!holds) {
                assertThat(reply.requeued()).isNull();
                return;
            }
            ids.add(next);
            passOn();
            if (holder == null) {
                holder = next;
                expectGranted(reply.requeued());
            } else {
                assertThat(busy(reply.requeued()).holder()).isEqualTo(holder);
                assertThat(busy(reply.requeued()).ahead()).isEqualTo(queue.size());
                queue.add(next);
            }
        }

        private void expectGranted(@Nullable AcquireReply reply) {
            var granted = granted(reply);
            assertThat(granted.waiting()).isEqualTo(queue.size());
            if (holdersBase == 0) {
                grantedWith(granted.base());
            }
            assertThat(granted.base()).isEqualTo(holdersBase);
        }

        private void passOn() {
            holder = queue.isEmpty() ? null : queue.remove(0);
            holdersBase = 0; // to be seen
        }

        private void grantedWith(long base) {
            assertThat(base).isGreaterThan(lastBase);
            holdersBase = base;
            lastBase = base;
        }

        private void expectState() {
            StoreState state = clients.get(0).inspect(name);
            assertThat(state.holder()).isEqualTo(holder);
            assertThat(state.waiting()).isEqualTo(queue.size());
            if (holder != null && holdersBase == 0) {
                grantedWith(state.base());
            }
            assertThat(state.base()).isEqualTo(holder == null ? 0 : holdersBase);
        }

        private String newId(Random random) {
            String id = clients.get(random.nextInt(clients.size())).newId();
            ids.add(id);
            return id;
        }

        /** Returns mostly the holder, otherwise any id, even one that was never granted or has ended. */
        private String anyId(Random random) {
            if (holder != null && random.nextInt(3) > 0) {
                return holder;
            }
            return ids.isEmpty() ? newId(random) : ids.get(random.nextInt(ids.size()));
        }

        private StoreClient client(String id) {
            return clients.stream()
                    .filter(client -> id.startsWith(client.id))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
