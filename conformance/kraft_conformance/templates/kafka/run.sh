#!/bin/sh
# run.sh --jars DIR: run the suite on a build of Kafka, through the adapter in this folder.
exec kraft-spec kafka run --sources "$(dirname "$0")" "$@"
