// A language model that follows a script: a server on loopback that streams chat completions.

import { createServer } from 'node:http';

/** `says` is given the messages of a request and what was said last, and says what is replied; nothing where it is silent. */
export async function model(says) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { messages } = JSON.parse(body);
    asked.push(messages.at(-1).content);
    const words = says(messages, messages.at(-1).content);
    if (words === undefined) return;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const piece of words.match(/[^]{1,9}/g)) response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: piece } }] })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  const options = ['--model-url', `http://127.0.0.1:${server.address().port}/v1`, '--model-name', 'scripted'];
  return { asked, options, end: () => (server.closeAllConnections(), server.close()) };
}
