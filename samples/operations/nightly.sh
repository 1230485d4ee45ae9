#!/bin/sh
# The work of the job, in place of yours.
echo "alone with $HOLDFAST_LOCK, token $HOLDFAST_TOKEN"
