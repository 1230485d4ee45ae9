package io.holdfast.redis.server;

import io.lettuce.core.cluster.SlotHash;

/**
 * A short tag for each cluster slot: the first number, counted from zero and written to base 36, that falls into the
 * slot. Part of the stored format, see {@link RedisKeys}.
 */
public final class SlotTags {

    /** Made at the first use of this class, in some ten milliseconds: few names need it. */
    private static final String[] TAGS = tags();

    private SlotTags() {}

    public static String of(int slot) {
        return TAGS[slot];
    }

    private static String[] tags() {
        String[] tags = new String[SlotHash.SLOT_COUNT];
        int missing = tags.length;
        for (int number = 0; missing > 0; number++) {
            String tag = Integer.toString(number, 36);
            int slot = RedisKeys.slot(tag);
            if (tags[slot] == null) {
                tags[slot] = tag;
                missing--;
            }
        }
        return tags;
    }
}
