package io.holdfast.samples.quarkus;

import io.holdfast.LockClient;
import jakarta.transaction.Transactional;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.io.IOException;

/** The endpoints. */
@Path("/sites/{site}")
public class InvoiceResource {

    private final Invoices invoices;
    private final LockClient locks;

    InvoiceResource(Invoices invoices, LockClient locks) {
        this.invoices = invoices;
        this.locks = locks;
    }

    @POST
    @Path("/invoice")
    public int invoice(@PathParam("site") String site) throws IOException {
        return invoices.next(site);
    }

    /** Makes two invoices in one transaction, at whose end the lock is released, and tells who holds it in between. */
    @POST
    @Path("/two-invoices")
    @Transactional
    public String twoInvoices(@PathParam("site") String site) throws IOException {
        int first = invoices.next(site);
        int second = invoices.next(site);
        boolean locked = locks.inspect("invoice.number:" + site).isLocked();
        return first + " and " + second + (locked ? ", locked" : ", unlocked");
    }
}
