"""Packs static programs as one container image for several processors: an OCI layout in a tar archive.

    python oci.py --out FILE --version V --revision COMMIT --epoch SECONDS --certificates FILE --sbom FILE ARCH=PROGRAM...

ARCH is `amd64` or `arm64`. The image has the files and settings of docker/Dockerfile. Its list of components is in the image,
and attached to each image as a referrer (artifact type application/vnd.cyclonedx+json). Two runs write the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import json
import tarfile
from datetime import datetime, timezone
from pathlib import Path

CYCLONEDX = "application/vnd.cyclonedx+json"
INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
USER = 65532
SECOND = 1_000_000_000


class Layout:
    """The files of an OCI layout, by path."""

    def __init__(self, epoch):
        self.epoch = epoch
        self.files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def add(self, content, media_type, **more):
        """Adds a blob and returns its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content), **more}

    def write(self, path):
        with open(path, "wb") as file:
            file.write(tar_of(sorted((name, content, 0o644) for name, content in self.files.items()), self.epoch))


def tar_of(entries, epoch):
    """A tar archive of (path, content, mode), with folders before their files; a path that ends with / is a folder."""
    out, folders = io.BytesIO(), set()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:

        def put(name, kind, mode, content=b""):
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.mtime, info.size = kind, mode, epoch, len(content)
            tar.addfile(info, io.BytesIO(content))

        for name, content, mode in entries:
            parents = Path(name.rstrip("/")).parents
            for folder in [str(p) for p in reversed(parents) if str(p) != "."]:
                if folder not in folders:
                    folders.add(folder)
                    put(folder, tarfile.DIRTYPE, 0o755)
            if name.endswith("/"):
                folders.add(name.rstrip("/"))
                put(name.rstrip("/"), tarfile.DIRTYPE, mode)
            else:
                put(name, tarfile.REGTYPE, mode, content)
    return out.getvalue()


def image_of(layout, processor, program, options):
    """Adds the image of one program, and returns its descriptor and that of its list of components."""
    sbom = Path(options.sbom).read_bytes()
    layer = tar_of(
        [
            ("etc/group", f"terrapin:x:{USER}:\n".encode(), 0o644),
            ("etc/passwd", f"terrapin:x:{USER}:{USER}:Terrapin:/:/sbin/nologin\n".encode(), 0o644),
            ("etc/ssl/certs/ca-certificates.crt", Path(options.certificates).read_bytes(), 0o644),
            ("tmp/", b"", 0o1777),
            ("usr/local/bin/terrapin", Path(program).read_bytes(), 0o755),
            ("usr/share/sbom/terrapin.cdx.json", sbom, 0o644),
            ("var/tmp/", b"", 0o1777),
        ],
        options.epoch,
    )
    created = datetime.fromtimestamp(options.epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    labels = {
        "org.opencontainers.image.title": "Terrapin",
        "org.opencontainers.image.description": "Answers OverpassQL and SPARQL over a pinned snapshot of OpenStreetMap and Wikidata",
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
        "org.opencontainers.image.version": options.version,
        "org.opencontainers.image.revision": options.revision,
    }
    config = {
        "architecture": processor,
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/local/bin", "TERRAPIN_BIND=0.0.0.0:8080"],
            "ExposedPorts": {"8080/tcp": {}},
            "Entrypoint": ["/usr/local/bin/terrapin"],
            "Cmd": ["serve", "/snapshot.terrapin"],
            "StopSignal": "SIGTERM",
            "Labels": labels,
            # Docker's addition to the specification.
            "Healthcheck": {
                "Test": ["CMD", "/usr/local/bin/terrapin", "health"],
                "Interval": 10 * SECOND,
                "Timeout": 4 * SECOND,
                "StartPeriod": 5 * SECOND,
                "Retries": 3,
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": created, "created_by": "scripts/release/image"}],
    }
    packed = gzip.compress(layer, compresslevel=9, mtime=0)
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": layout.add(config, "application/vnd.oci.image.config.v1+json"),
        "layers": [layout.add(packed, "application/vnd.oci.image.layer.v1.tar+gzip")],
        "annotations": {**labels, "org.opencontainers.image.created": created},
    }
    image = layout.add(manifest, MANIFEST)
    referrer = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": CYCLONEDX,
        "config": layout.add(b"{}", "application/vnd.oci.empty.v1+json"),
        "layers": [layout.add(sbom, CYCLONEDX, annotations={"org.opencontainers.image.title": "terrapin.cdx.json"})],
        "subject": dict(image),
        "annotations": {"org.opencontainers.image.created": created},
    }
    return {**image, "platform": {"architecture": processor, "os": "linux"}}, layout.add(referrer, MANIFEST, artifactType=CYCLONEDX)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ["out", "version", "revision", "certificates", "sbom"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--epoch", type=int, required=True)
    parser.add_argument("programs", nargs="+", metavar="ARCH=PROGRAM")
    options = parser.parse_args()
    layout = Layout(options.epoch)
    images = [image_of(layout, *each.split("=", 1), options) for each in options.programs]
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [image for image, _ in images]}
    both = layout.add(index, INDEX, annotations={"org.opencontainers.image.ref.name": options.version})
    # A copy with all referrers follows the layout's index; clients that only want the image take the first entry.
    layout.files["index.json"] = json.dumps(
        {"schemaVersion": 2, "mediaType": INDEX, "manifests": [both, *(sbom for _, sbom in images)]}, sort_keys=True
    ).encode()
    layout.write(options.out)
    print(both["digest"])


if __name__ == "__main__":
    main()
