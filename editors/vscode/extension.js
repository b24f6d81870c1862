// Starts the language server, and shows what its commands answer.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** The steps of a run beside the text, with the statement of each where its line is known. */
async function stepThrough(run, uri) {
  const items = run.steps.map((step, number) => ({
    label: `${number}`,
    description: step.text.split("\n")[0],
    detail: run.cycleStart === number ? "from here on, the following repeats for ever" : undefined,
    step,
  }));
  const pick = vscode.window.createQuickPick();
  pick.title = `${run.property}: a run of ${run.steps.length - 1} steps`;
  pick.placeholder = "Go through the steps by the arrow keys; Enter shows the whole run as a text";
  pick.items = items;
  pick.onDidChangeActive(async ([active]) => {
    const place = active && active.step.place;
    if (!place || place.file) {
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    const line = document.lineAt(Math.min(place.line, document.lineCount) - 1);
    await vscode.window.showTextDocument(document, { selection: line.range, preserveFocus: true });
  });
  pick.onDidAccept(async () => {
    pick.hide();
    const document = await vscode.workspace.openTextDocument({ content: run.text });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
  });
  pick.onDidHide(() => pick.dispose());
  pick.show();
}

/** What a command answers, before the client passes it on. */
async function executed(command, args, next) {
  try {
    const answer = await next(command, args);
    if (command === "stubborn.step" && answer) {
      await stepThrough(answer, vscode.Uri.parse(args[0]));
    } else if (command === "stubborn.check" && answer) {
      const isBad = answer.results.some((result) => result.verdict !== "holds");
      const show = isBad ? vscode.window.showWarningMessage : vscode.window.showInformationMessage;
      show(answer.summary);
    }
    return answer;
  } catch (error) {
    vscode.window.showErrorMessage(`${error.message ?? error}`);
    return undefined;
  }
}

function activate(context) {
  const settings = vscode.workspace.getConfiguration("stubborn");
  const server = { command: settings.get("path"), args: ["lsp"] };
  client = new LanguageClient("stubborn", "Stubborn", server, {
    documentSelector: ["process", "promela", "ltl"].map((language) => ({ language })),
    initializationOptions: {
      definitions: settings.get("definitions"),
      folders: settings.get("folders"),
      seconds: settings.get("seconds"),
      megabytes: settings.get("megabytes"),
    },
    middleware: { executeCommand: executed },
  });
  context.subscriptions.push({ dispose: () => client.stop() });
  return client.start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
