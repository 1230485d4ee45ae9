package io.holdfast.verify.zookeeper;

/** The connection of a follower with its leader. */
final class SimPeerLink {

    final SimMember leader;
    final SimMember follower;
    private final SimEnsemble ensemble;
    private final SimPipe toLeader;
    private final SimPipe toFollower;
    private boolean open = true;

    SimPeerLink(SimEnsemble ensemble, SimMember leader, SimMember follower) {
        this.ensemble = ensemble;
        this.leader = leader;
        this.follower = follower;
        toLeader = ensemble.pipe(follower, leader);
        toFollower = ensemble.pipe(leader, follower);
    }

    void toLeader(Runnable arrival) {
        toLeader.send(arrival);
    }

    void toFollower(Runnable arrival) {
        toFollower.send(arrival);
    }

    /** One of the two closes it, or has crashed. The other one learns of it if there is a way between them. */
    void close(SimMember by) {
        if (!open) {
            return;
        }
        open = false;
        toLeader.close();
        toFollower.close();
        SimMember other = by == leader ? follower : leader;
        if (!ensemble.isCut(leader, follower)) {
            other.after(ensemble.peerDelayNanos(), () -> other.linkClosed(this));
        }
    }
}
