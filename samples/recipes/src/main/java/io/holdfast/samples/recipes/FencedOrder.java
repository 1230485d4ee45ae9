package io.holdfast.samples.recipes;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** An entity with a column for the largest fencing token that has changed it. */
@Entity
class FencedOrder {

    @Id
    private long id;

    @Column(nullable = false)
    private String status = "new";

    @Column(nullable = false)
    private long fence;

    FencedOrder() {}

    FencedOrder(long id) {
        this.id = id;
    }

    String status() {
        return status;
    }

    void setStatus(String status) {
        this.status = status;
    }
}
