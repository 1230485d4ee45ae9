package io.holdfast.redis.lua;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.RenewRequest;
import java.util.ArrayList;
import java.util.List;

/** What differs between locks and pools at a store: the scripts, and the keys that each script gets. */
enum NameKind {
    LOCKS(
            LuaScript.ACQUIRE,
            LuaScript.RENEW,
            LuaScript.RENEW_ONE,
            LuaScript.RELEASE,
            LuaScript.ABANDON,
            LuaScript.FORCE,
            LuaScript.INSPECT,
            2) {
        @Override
        String[] keys(RedisKeys keys, String name) {
            return keys.of(name);
        }

        @Override
        String renewedKey(RedisKeys keys, String name, int place) {
            return place == 0 ? name : keys.queue(name);
        }

        /** Each hold has keys of its own. */
        @Override
        Renewal renewal(RedisKeys keys, List<RenewRequest> requests, boolean counted) {
            return new Renewal(renewalKeys(keys, requests, counted), NOTHING);
        }
    },
    POOLS(
            LuaScript.POOL_ACQUIRE,
            LuaScript.POOL_RENEW,
            LuaScript.POOL_RENEW_ONE,
            LuaScript.POOL_RELEASE,
            LuaScript.POOL_ABANDON,
            LuaScript.POOL_FORCE,
            LuaScript.POOL_INSPECT,
            3) {
        @Override
        String[] keys(RedisKeys keys, String name) {
            return keys.ofPool(name);
        }

        @Override
        String renewedKey(RedisKeys keys, String name, int place) {
            return switch (place) {
                case 0 -> keys.poolHolds(name);
                case 1 -> keys.poolEnds(name);
                default -> keys.poolQueue(name);
            };
        }

        /** Requests of one pool that follow each other share its keys: 10,000 permits of a pool are the common case. */
        @Override
        Renewal renewal(RedisKeys keys, List<RenewRequest> requests, boolean counted) {
            List<RenewRequest> heads = new ArrayList<>();
            List<Integer> sizes = new ArrayList<>();
            for (RenewRequest request : requests) {
                int last = heads.size() - 1;
                if (last >= 0 && heads.get(last).name().equals(request.name())) {
                    sizes.set(last, sizes.get(last) + 1);
                } else {
                    heads.add(request);
                    sizes.add(1);
                }
            }
            sizes.add(0, heads.size());
            return new Renewal(
                    renewalKeys(keys, heads, counted),
                    sizes.stream().map(String::valueOf).toArray(String[]::new));
        }
    };

    /** What a renewal gets besides its head and the holder ids: {@code KEYS}, and how the holds share them. */
    static final class Renewal {

        final String[] keys;
        final String[] rows;

        private Renewal(String[] keys, String[] rows) {
            this.keys = keys;
            this.rows = rows;
        }
    }

    private static final String[] NOTHING = {};

    final LuaScript acquire;
    final LuaScript renew;
    final LuaScript renewOne;
    final LuaScript release;
    final LuaScript abandon;
    final LuaScript force;
    final LuaScript inspect;

    /** How many keys of a name a renewal that counts its queue gets. */
    private final int renewedKeys;

    NameKind(
            LuaScript acquire,
            LuaScript renew,
            LuaScript renewOne,
            LuaScript release,
            LuaScript abandon,
            LuaScript force,
            LuaScript inspect,
            int renewedKeys) {
        this.acquire = acquire;
        this.renew = renew;
        this.renewOne = renewOne;
        this.release = release;
        this.abandon = abandon;
        this.force = force;
        this.inspect = inspect;
        this.renewedKeys = renewedKeys;
    }

    /** Returns the {@code KEYS} of all scripts but the renewals. */
    abstract String[] keys(RedisKeys keys, String name);

    /** Returns one of the keys that a renewal gets for a name; the last one is the queue. */
    abstract String renewedKey(RedisKeys keys, String name, int place);

    /** Returns what a renewal of these holds gets. */
    abstract Renewal renewal(RedisKeys keys, List<RenewRequest> requests, boolean counted);

    /** Returns the {@code KEYS} of a renewal: the first keys of all names, then the second ones, and so on. */
    final String[] renewalKeys(RedisKeys keys, List<RenewRequest> requests, boolean counted) {
        int holds = requests.size();
        int places = counted ? renewedKeys : renewedKeys - 1;
        String[] all = new String[places * holds];
        for (int i = 0; i < all.length; i++) {
            all[i] = renewedKey(keys, requests.get(i % holds).name(), i / holds);
        }
        return all;
    }
}
