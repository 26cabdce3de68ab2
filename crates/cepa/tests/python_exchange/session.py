"""One turn of a session on AgentScope's side: a line of JSON in, a line of JSON out, until the input ends.

The agent is the one of `friday.rs`. A turn is `{"state": text or null, "input": message text or event, "schema": bool,
"rounds": what the model says}`; what comes back is told in `turn.rs` (`Outcome`).
"""

import asyncio
import json
import logging
import sys

from pydantic import BaseModel

from agentscope.agent import Agent
from agentscope.credential import CredentialBase
from agentscope.event import ExternalExecutionResultEvent, UserConfirmResultEvent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock, ToolCallBlock, UserMsg
from agentscope.middleware import ReplyBudgetControlMiddleware
from agentscope.model import ChatModelBase, ChatResponse, ChatUsage
from agentscope.permission import PermissionBehavior, PermissionDecision
from agentscope.state import AgentState
from agentscope.tool import FunctionTool, TaskCreate, TaskGet, TaskList, TaskUpdate, Toolkit, ToolGroup

# What they print belongs beside the protocol, not into it.
ANSWERS, sys.stdout = sys.stdout, sys.stderr
logging.disable(logging.CRITICAL)


class Verdict(BaseModel):
    answer: str
    score: int


class Credential(CredentialBase):
    @classmethod
    def get_chat_model_class(cls):
        return Scripted


class Scripted(ChatModelBase):
    """Says what it is told to, round by round, and keeps the requests."""

    class Parameters(BaseModel):
        pass

    def __init__(self, rounds):
        super().__init__(
            credential=Credential(),
            model="scripted",
            parameters=self.Parameters(),
            stream=True,
            context_size=32768,
        )
        self.formatter = OpenAIChatFormatter()
        self.rounds = list(rounds)
        self.requests = []

    async def _call_api(self, model_name, messages, tools=None, tool_choice=None, **_):
        self.requests.append(
            {
                "messages": [msg.model_dump(mode="json") for msg in messages],
                "tools": [tool["function"]["name"] for tool in tools or []],
                "tool_choice": tool_choice.mode if tool_choice else None,
            },
        )
        said = self.rounds.pop(0)
        if "text" in said:
            block = TextBlock(text=said["text"], id="block")
        else:
            block = ToolCallBlock(id=said["id"], name=said["tool"], input=said["input"])
        tokens_in, tokens_out = said["usage"]
        usage = ChatUsage(input_tokens=tokens_in, output_tokens=tokens_out, time=0)

        async def stream():
            yield ChatResponse(content=[block], is_last=False, id="response", usage=usage)

        return stream()

    async def _call_api_with_structured_output(self, *_, **__):
        raise NotImplementedError


def friday(state, model, ran):
    def pay(amount: int) -> str:
        """Pays an amount.

        Args:
            amount (int): How much.
        """
        ran.append(f"pay {amount}")
        return f"paid {amount}"

    def look() -> str:
        """Looks around."""
        ran.append("look")
        return "all quiet"

    def dig() -> str:
        """Digs."""
        ran.append("dig")
        return "gold"

    def fetch(what: str) -> str:
        """Fetches something from outside.

        Args:
            what (str): What.
        """
        raise AssertionError("it runs elsewhere")

    allowed = PermissionDecision(behavior=PermissionBehavior.ALLOW, message="harmless")
    outside = FunctionTool(fetch, permission=allowed)
    outside.is_external_tool = True
    return Agent(
        name="Friday",
        system_prompt="Be helpful.",
        model=model,
        toolkit=Toolkit(
            tools=[
                FunctionTool(pay),
                FunctionTool(look, permission=allowed),
                outside,
                TaskCreate(),
                TaskGet(),
                TaskList(),
                TaskUpdate(),
            ],
            tool_groups=[
                ToolGroup(name="digging", description="To dig.", tools=[FunctionTool(dig, permission=allowed)]),
            ],
        ),
        middlewares=[ReplyBudgetControlMiddleware(token_budget=100)],
        state=state,
    )


EVENTS = {
    "USER_CONFIRM_RESULT": UserConfirmResultEvent,
    "EXTERNAL_EXECUTION_RESULT": ExternalExecutionResultEvent,
}


async def play(turn):
    saved, given = turn["state"], turn["input"]
    state = AgentState.model_validate_json(saved) if saved else AgentState()
    if isinstance(given, str):
        given = UserMsg(name="user", content=given)
    else:
        given = EVENTS[given["type"]].model_validate(given)
    model, ran = Scripted(turn["rounds"]), []
    agent = friday(state, model, ran)
    msg = await agent.reply(given, structured_schema=Verdict if turn["schema"] else None)
    return {
        "state": agent.state.model_dump_json(),
        "requests": model.requests,
        "ran": ran,
        "message": msg.model_dump(mode="json"),
        "unsaid": len(model.rounds),
    }


for line in sys.stdin:
    print(json.dumps(asyncio.run(play(json.loads(line)))), file=ANSWERS, flush=True)
