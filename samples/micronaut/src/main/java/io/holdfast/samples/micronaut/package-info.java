/** Locks in an application of Micronaut. */
package io.holdfast.samples.micronaut;
