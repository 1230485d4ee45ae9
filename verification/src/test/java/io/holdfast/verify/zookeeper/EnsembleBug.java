package io.holdfast.verify.zookeeper;

/** What could be wrong with the store on ZooKeeper. Switched on one at a time, to see that it is found. */
public enum EnsembleBug {
    NONE,

    /** Two thirds of a session are promised from each write on, whatever the leader knows of the session. */
    PROMISE_FROM_THE_WRITE,
    /** A create of unknown outcome is taken for one that was not executed. */
    CREATE_IS_NOT_SEARCHED,
    /** A delete of unknown outcome is taken for one that was executed. */
    DELETE_IS_FORGOTTEN,
    /** What a grant rests on is not a committed write, but a look at the server that is connected. */
    PROOF_IS_A_READ,
    /** Tokens from the number in the node's name. */
    TOKEN_IS_THE_NODES_NUMBER,
    /** A waiter watches a node that is not the one before it, so it hears nothing. */
    WATCHES_THE_WRONG_NODE,

    /** A waiter hears of the deletion of the node before it at once, whether or not there was one. */
    DELETION_IS_TOLD_TOO_SOON,
    /** Of the nodes before its own one, a waiter sees the last alone. */
    ONE_NODE_BEFORE_IS_SEEN,
    /** A new node seems to have the number after that of its client's last node, although others came between them. */
    NUMBERS_LEAVE_OTHERS_OUT,
    /** A new folder's numbers begin high, so a node seems to follow one in the folder that was removed. */
    NEW_FOLDER_IS_TAKEN_FOR_THE_OLD,

    /** A share of a pool counts as one, whatever it weighs. */
    POOL_WEIGHT_IS_FORGOTTEN,
    /** Waiting nodes of a pool do not count: a request with room overtakes those without. */
    POOL_WAITERS_ARE_OVERTAKEN,
    /** A request with a larger capacity overtakes those that wait with a smaller one. */
    POOL_LARGER_CAPACITY_OVERTAKES,
    /** A waiter of a pool does not hear of the grant before it. */
    POOL_GRANT_IS_NOT_WATCHED
}
