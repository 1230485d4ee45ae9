package io.holdfast.demo.scenes;

/** One thing that the demonstration shows, with the invariants that must hold in it. */
interface Scene {

    /** One word or two, for the option {@code --only} and the summary. */
    String name();

    /** What is at stake, in a line. */
    String title();

    /** Plays it and says what came out. An exception means that it could not be played to its end. */
    void play(Stage stage, Verdict verdict) throws Exception;
}
