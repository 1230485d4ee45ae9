package io.holdfast.redis.connect;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.util.Collection;

/**
 * Writes ready commands to the socket together while the server has enough to do, and at once otherwise. A write is the
 * driver's most expensive step, but a command that waits for others to become ready may leave the server idle.
 *
 * <p>Measured beside a plain driver, which writes each command at once, with a processor for the server and one for the
 * clients. Always together, 8 threads made 0.64 times its pairs a second, as client and server took turns. Always at
 * once, 64 threads made 0.91 times its pairs. This way they made 0.87 and 1.17 times as many ({@code DECISIONS.md}).
 */
final class WritesTogether extends FlushConsolidationHandler {

    /**
     * So many commands keep the server busy while the next ones become ready. With 8, a processor that other programs
     * use, too, spends more time on writes than that gains.
     */
    private static final int ENOUGH = 4;

    /** With a much larger number, client and server take turns again. */
    private static final int TOGETHER_MOST = 8;

    private final Collection<?> unanswered;

    /** @param unanswered the commands that were written and have no answer yet; changed by the channel's thread */
    WritesTogether(Collection<?> unanswered) {
        super(TOGETHER_MOST, true);
        this.unanswered = unanswered;
    }

    @Override
    public void flush(ChannelHandlerContext context) throws Exception {
        if (unanswered.size() <= ENOUGH) {
            context.flush();
        } else {
            super.flush(context);
        }
    }
}
