// Uses every tool that is asked for with the TypeScript SDK, and prints what came of each.
//
//   node speak.mjs URL TOKEN       a JSON array of {tool, arguments} on stdin, results on stdout
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(0, "utf8"));
const headers = { Authorization: `Bearer ${token}` };
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "codeflow-memory-test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const { prompts } = await client.listPrompts();
const results = [];
for (const call of calls) {
  // Checks what comes against the tool's output schema.
  results.push(await client.callTool({ name: call.tool, arguments: call.arguments }));
}
await client.close();
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  tools: tools.map((tool) => tool.name),
  prompts: prompts.map((prompt) => prompt.name),
  results,
}));
