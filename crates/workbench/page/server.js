// Talks to the server. Paths are relative to the page's own, which holds the token.

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The workbench does not answer: is `stubborn serve` still running?");
  }
  let document = null;
  try {
    document = await response.json();
  } catch {
    // It says what is wrong below.
  }
  if (!response.ok) throw new Refused(response.status, document?.error ?? `The server says ${response.status}.`);
  return document;
}

export const get = (path) => ask(`api/${path}`, {});

export const post = (path, body, signal) =>
  ask(`api/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });

// Begins a job; `onNews` hears how it goes. The result comes when it is done.
export class Job {
  constructor(path, body, onNews = () => {}) {
    this.number = null;
    this.stopped = false;
    this.result = this.run(path, body, onNews);
  }

  async run(path, body, onNews) {
    const { job } = await post(path, body);
    this.number = job;
    if (this.stopped) await this.stop();
    for (;;) {
      const news = await get(`jobs/${job}`);
      if (news.stage === "done") return news.result;
      onNews(news);
    }
  }

  async stop() {
    this.stopped = true;
    if (this.number !== null) await post(`jobs/${this.number}/stop`, {});
  }
}
