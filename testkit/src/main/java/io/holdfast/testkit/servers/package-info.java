/**
 * Private real servers on free ports of the loopback interface, which end with the test's JVM. One Redis or Valkey
 * server is a {@link io.holdfast.testkit.servers.RedisServer}; a replication, a cluster and a ZooKeeper ensemble consist
 * of several processes. This package needs no test library.
 */
@NullMarked
package io.holdfast.testkit.servers;

import org.jspecify.annotations.NullMarked;
