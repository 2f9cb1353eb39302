// Set each formula of the page with the copy of KaTeX that the app has, too.
for (const element of document.querySelectorAll(".arithmatex")) {
  const latex = element.textContent.replace(/^\s*\\[([]|\\[)\]]\s*$/g, "");
  katex.render(latex, element, { displayMode: element.tagName === "DIV", throwOnError: false });
}
