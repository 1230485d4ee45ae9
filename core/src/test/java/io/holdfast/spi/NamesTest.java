package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {

    @Test
    void whatCanBePrintedStaysAsItIs() {
        String name = "order:\u00fc \u9501 \ud83d\udd12 a\\b";
        assertThat(Names.printable(name)).isSameAs(name);
        assertThat(Names.printable("")).isEmpty();
    }

    @Test
    void whatCannotBePrintedIsWrittenOut() {
        assertThat(Names.printable("a\r\n2026-01-01 ERROR forged")).isEqualTo("a\\u000d\\u000a2026-01-01 ERROR forged");
        assertThat(Names.printable("\u001b[2J\t\u007f\u0085")).isEqualTo("\\u001b[2J\\u0009\\u007f\\u0085");
        assertThat(Names.printable("a\u2028\u2029b")).isEqualTo("a\\u2028\\u2029b");
        assertThat(Names.printable("\u202egnp.exe")).isEqualTo("\\u202egnp.exe");
        // Outside the basic multilingual plane: tag characters, and a musical format character.
        assertThat(Names.printable("a\udb40\udc41b\ud834\udd73")).isEqualTo("a\\udb40\\udc41b\\ud834\\udd73");
        assertThat(Names.printable("half \ud83d")).isEqualTo("half \\ud83d");
    }
}
