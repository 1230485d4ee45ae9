package io.holdfast.bench.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs each benchmark for a moment, so that they still work on the day they are needed. The figures mean nothing. */
class EngineBenchmarkTest {

    @Test
    void everyBenchmarkRuns() throws RunnerException {
        var options = new OptionsBuilder()
                .include(EngineBenchmark.class.getSimpleName())
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(50))
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT)
                .build();
        assertThat(new Runner(options).run()).hasSize(5);
    }
}
