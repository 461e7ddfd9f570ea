"""A mock implementation that responds to ApiVersions and Vote, the latter rightly or wrongly."""

import asyncio
import sys
from pathlib import Path

from kraft_kafka.live.bodies import vote_answer
from kraft_kafka.live.peers import OFFERED, api_keys
from kraft_kafka.wire.connections import Server
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.frames import decode_request, encode_frame
from kraft_kafka.wire.schema import Kind, message_of

FENCED = 74


class Voter:
    """An epoch and a vote."""

    def __init__(self, wrong: str) -> None:
        self.wrong, self.epoch = wrong, 0
        self.voted: tuple[int, str] | None = None

    def vote(self, part: Document) -> Document:
        epoch, key = part["replicaEpoch"], (part["replicaId"], part["replicaDirectoryId"])
        if epoch < self.epoch:
            return vote_answer(False, self.epoch, error=FENCED)
        if epoch > self.epoch:
            self.epoch, self.voted = epoch, None
        if part["preVote"]:
            return vote_answer(True, epoch)
        if self.voted in (None, key) or self.wrong == "votes-twice":
            self.voted = key
            return vote_answer(True, epoch)
        return vote_answer(False, epoch)

    async def respond(self, raw: bytes) -> bytes | None:
        frame = decode_request(raw, is_lenient=True)
        if frame.message.api == "ApiVersions":
            body: Document = {"errorCode": 0, "apiKeys": api_keys(OFFERED), "throttleTimeMs": 0}
        elif self.wrong == "dies":
            sys.exit(1)
        else:
            body = self.vote(frame.body["topics"][0]["partitions"][0])
        document = {"header": {"correlationId": frame.header["correlationId"]}, "body": body}
        response = encode_frame(message_of(frame.message.api, Kind.RESPONSE), frame.version, document)[0]
        if self.wrong == "garbles" and frame.message.api == "Vote":
            return response[:-3] + b"\xff\xff\xff"
        if self.wrong == "breaks-frames" and frame.message.api == "Vote":
            return b"\xff" + response[1:]
        return response


async def main() -> None:
    """Listen at the address in the properties."""
    *wrong, properties = sys.argv[1:]
    lines = dict(line.split("=", 1) for line in Path(properties).read_text(encoding="utf-8").splitlines())
    server = Server("127.0.0.1", int(lines["listeners"].rpartition(":")[2]), Voter("".join(wrong)).respond)
    await server.start()
    await asyncio.get_running_loop().create_future()


if __name__ == "__main__":
    asyncio.run(main())
