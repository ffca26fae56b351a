"""An MCP server on the Python SDK, for the tests: over its input and output, in whichever generation is asked for."""

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = MCPServer("python")


class Name(BaseModel):
    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks who is there."""
    answers = ctx.input_responses
    if answers is None:
        params = ElicitRequestFormParams(message="Who are you?", requested_schema=Name.model_json_schema())
        return InputRequiredResult(input_requests={"who": ElicitRequest(params=params)}, request_state="asked")
    who = answers["who"]
    return f"{who.action}: {who.content}"


server.run()
