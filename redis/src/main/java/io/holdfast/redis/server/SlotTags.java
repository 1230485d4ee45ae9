package io.holdfast.redis.server;

import io.lettuce.core.cluster.SlotHash;

/**
 * Maps each cluster slot to a short tag: the first number, counted from zero and written in base 36, that falls into
 * the slot. The tags are part of the stored format, see {@link RedisKeys}.
 */
public final class SlotTags {

    /** Built at the first use of this class, in some ten milliseconds: few names need it. */
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
