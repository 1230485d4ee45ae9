package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How many writes to the socket the commands of several threads need. */
class WritesTogetherTest {

    private final List<Integer> unanswered = new ArrayList<>();
    private final List<Integer> sizesOfWrites = new ArrayList<>();
    private int written;

    private final EmbeddedChannel channel = new EmbeddedChannel(
            new ChannelOutboundHandlerAdapter() {
                @Override
                public void flush(ChannelHandlerContext context) {
                    if (written > 0) {
                        sizesOfWrites.add(written);
                        written = 0;
                    }
                    context.flush();
                }
            },
            new WritesTogether(unanswered));

    /** Sends commands that were all ready before the channel's thread came to write. */
    private void send(int commands) {
        channel.eventLoop().execute(() -> {
            for (int i = 0; i < commands; i++) {
                unanswered.add(i);
                written++;
                channel.pipeline().flush();
            }
        });
        channel.runPendingTasks();
    }

    @Test
    void few_commands_are_written_at_once() {
        send(4);
        assertThat(sizesOfWrites).containsExactly(1, 1, 1, 1);
    }

    @Test
    void more_commands_are_written_together() {
        send(21);
        assertThat(sizesOfWrites).containsExactly(1, 1, 1, 1, 8, 8, 1);
    }

    @Test
    void commands_are_written_at_once_again_when_the_answers_have_come() {
        send(20);
        unanswered.clear();
        sizesOfWrites.clear();
        send(2);
        assertThat(sizesOfWrites).containsExactly(1, 1);
    }
}
