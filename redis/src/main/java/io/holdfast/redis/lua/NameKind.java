package io.holdfast.redis.lua;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.RenewRequest;
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
            LuaScript.INSPECT) {
        @Override
        String[] keys(RedisKeys keys, String name) {
            return keys.of(name);
        }

        @Override
        String[] renewalKeys(RedisKeys keys, List<RenewRequest> requests, boolean counted) {
            int holds = requests.size();
            String[] all = new String[counted ? 2 * holds : holds];
            for (int i = 0; i < holds; i++) {
                String name = requests.get(i).name();
                all[i] = name;
                if (counted) {
                    all[holds + i] = keys.queue(name);
                }
            }
            return all;
        }
    },
    POOLS(
            LuaScript.POOL_ACQUIRE,
            LuaScript.POOL_RENEW,
            LuaScript.POOL_RENEW_ONE,
            LuaScript.POOL_RELEASE,
            LuaScript.POOL_ABANDON,
            LuaScript.POOL_FORCE,
            LuaScript.POOL_INSPECT) {
        @Override
        String[] keys(RedisKeys keys, String name) {
            return keys.ofPool(name);
        }

        @Override
        String[] renewalKeys(RedisKeys keys, List<RenewRequest> requests, boolean counted) {
            int holds = requests.size();
            String[] all = new String[(counted ? 3 : 2) * holds];
            for (int i = 0; i < holds; i++) {
                String name = requests.get(i).name();
                all[i] = keys.poolHolds(name);
                all[holds + i] = keys.poolEnds(name);
                if (counted) {
                    all[2 * holds + i] = keys.poolQueue(name);
                }
            }
            return all;
        }
    };

    final LuaScript acquire;
    final LuaScript renew;
    final LuaScript renewOne;
    final LuaScript release;
    final LuaScript abandon;
    final LuaScript force;
    final LuaScript inspect;

    NameKind(
            LuaScript acquire,
            LuaScript renew,
            LuaScript renewOne,
            LuaScript release,
            LuaScript abandon,
            LuaScript force,
            LuaScript inspect) {
        this.acquire = acquire;
        this.renew = renew;
        this.renewOne = renewOne;
        this.release = release;
        this.abandon = abandon;
        this.force = force;
        this.inspect = inspect;
    }

    /** Returns the {@code KEYS} of all scripts but the renewals. */
    abstract String[] keys(RedisKeys keys, String name);

    /** Returns the {@code KEYS} of a renewal. */
    abstract String[] renewalKeys(RedisKeys keys, List<RenewRequest> requests, boolean counted);
}
