package io.holdfast.redis.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A server's answer to INFO. Services leave out some fields; warnings take a missing field as set correctly.
 */
public final class ServerInfo {

    private final Map<String, String> fields = new HashMap<>();

    public ServerInfo(String answer) {
        for (String line : answer.split("\r?\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).strip());
            }
        }
    }

    /** Returns the version, or an empty string. */
    public String version() {
        return fields.getOrDefault("redis_version", "");
    }

    /** Returns a field, or an empty string. */
    public String field(String name) {
        return fields.getOrDefault(name, "");
    }

    /** Returns the settings that endanger locks, each as a sentence that follows the server's name. */
    public List<String> warnings() {
        List<String> warnings = new ArrayList<>();
        String policy = fields.getOrDefault("maxmemory_policy", "noeviction");
        if (!policy.equals("noeviction")) {
            warnings.add("may evict locks when its memory is full: maxmemory-policy is " + policy
                    + " (set it to noeviction)");
        }
        if (fields.getOrDefault("role", "master").equals("slave")) {
            warnings.add("is a replica of " + fields.get("master_host") + ":" + fields.get("master_port")
                    + ": no lock can be taken there unless it is promoted (connect to the master)");
        }
        return warnings;
    }

    /** Returns the warnings for a member of a quorum, which must not forget its votes either. */
    public List<String> warningsForQuorum() {
        List<String> warnings = new ArrayList<>(warnings());
        if (fields.getOrDefault("aof_enabled", "1").equals("0")) {
            warnings.add("forgets its locks when it restarts, and does not vote for the longest lease after that:"
                    + " appendonly is no (set appendonly yes)");
        }
        return warnings;
    }
}
