package io.holdfast.cli.console;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, as Maven wrote it into the jar. */
public final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() throws IOException {
        return new String[] {"holdfast " + ofThisBuild() + " (Java " + System.getProperty("java.version") + ")"};
    }

    private static String ofThisBuild() throws IOException {
        Properties properties = new Properties();
        try (InputStream in =
                Version.class.getResourceAsStream("/META-INF/maven/io.holdfast/holdfast-cli/pom.properties")) {
            if (in != null) {
                properties.load(in);
            }
        }
        return properties.getProperty("version", "(development)");
    }
}
