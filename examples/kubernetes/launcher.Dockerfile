# The image that jobrun.kubernetes.launcher names: it has jobrun, and gives it
# to pods whose own image has not.  From the top folder of jobrun's sources:
#     docker build -f examples/kubernetes/launcher.Dockerfile -t IMAGE .
# 'make image' makes it without docker.

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
WORKDIR /src
COPY Makefile VERSION ./
RUN make deps PACKAGES='$(BUILD_PACKAGES)'
COPY . .
RUN make && ./jobrun launch --install /opt/jobrun

# With its loader, libraries and certificates, and nothing else.
FROM scratch
COPY --from=build /opt/jobrun /opt/jobrun
ENV PATH=/opt/jobrun:/usr/local/bin:/usr/bin:/bin
ENTRYPOINT ["/opt/jobrun/jobrun"]
