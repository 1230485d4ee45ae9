package io.holdfast.samples.start;

import org.springframework.boot.autoconfigure.SpringBootApplication;

@SpringBootApplication
class Shop {}
