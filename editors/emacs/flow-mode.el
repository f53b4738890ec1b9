;;; flow-mode.el --- Editing flow scripts -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; Colours, indentation as `flowc fmt' lays scripts out, comments; M-x eglot starts the language server.
;; The words are those of flow-words.el, which editors/generate.py writes from the compiler's tables.

;;; Code:

(require 'flow-words)

(defgroup flow nil "Editing flow scripts." :group 'languages)

(defcustom flow-indent 2 "Columns of one step of indentation." :type 'integer :safe #'integerp)

(defvar flow-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?` "$" table)
    (modify-syntax-entry ?' "." table)          ; transposes
    (dolist (c (string-to-list "+-*/%^=<>|&@?~!.,:;")) (modify-syntax-entry c "." table))
    table))

(defconst flow--font-lock
  (let ((word (lambda (words) (concat "\\_<" (regexp-opt words) "\\_>"))))
    `(("\\(##.*\\)$" 1 font-lock-doc-face prepend)
      ("\\_<\\(fn\\|stage\\)\\_>[ \t]+\\(\\(?:\\sw\\|\\s_\\)+\\|`[^`\n]+`\\)" 2 font-lock-function-name-face)
      ("^[ \t]*\\_<type\\_>[ \t]+\\(\\(?:\\sw\\|\\s_\\)+\\)" 1 font-lock-type-face)
      ("^[ \t]*\\_<param\\_>[ \t]+\\(\\(?:\\sw\\|\\s_\\)+\\)" 1 font-lock-variable-name-face)
      ;; Names of arguments and fields are names, whatever word they are.
      ("[(,][ \t\n]*\\(\\(?:\\sw\\|\\s_\\)+\\)[ \t]*=[^=>]" 1 'default)
      ("\\.\\(\\(?:\\sw\\|\\s_\\)+\\)" 1 'default)
      (,(concat "^[ \t]*\\(" (regexp-opt flow-words-start) "\\)\\_>[ \t]+[^=.|]") 1 font-lock-keyword-face)
      (,(funcall word (append flow-words-declare flow-words-control flow-words-operator)) . font-lock-keyword-face)
      (,(funcall word flow-words-constant) . font-lock-constant-face)
      (,(funcall word flow-words-type) . font-lock-type-face)
      (,(concat "\\_<\\(" (regexp-opt flow-words-builtin) "\\)\\_>[ \t]*(") 1 font-lock-builtin-face)
      (,(concat "|>[ \t]*\\(" (regexp-opt flow-words-builtin) "\\)\\_>") 1 font-lock-builtin-face)
      ("^[ \t]*\\(@\\(?:\\sw\\|\\s_\\)+\\)" 1 font-lock-preprocessor-face)))
  "What flow-mode colours beside comments and texts.")

(defun flow--code-before ()
  "Go to the end of the last code before this line; nil: there is none."
  (beginning-of-line)
  (forward-comment (- (point-max)))
  (not (bobp)))

(defun flow--goes-on ()
  "Whether the code before this line waits for more."
  (save-excursion
    (and (flow--code-before)
         (looking-back "\\(?:|>\\|\\?\\?\\|[=!<>~]=\\|=>\\|->\\|\\.\\.\\|[-+*/%@^<>=]\\|\\_<\\(?:and\\|or\\|in\\)\\)"
                       (line-beginning-position)))))

(defun flow--column ()
  "The column where the code of this line begins; nil: within a text."
  (save-excursion
    (back-to-indentation)
    (let* ((state (syntax-ppss))
           (open (nth 1 state))
           (base (if open (save-excursion (goto-char open) (current-indentation)) 0)))
      (cond ((nth 3 state) nil)
            ((looking-at "[])}]") base)
            (t (let ((base (if open (+ base flow-indent) 0)))
                 (when (looking-at "#") (forward-comment (point-max))) ; a comment stands with what follows
                 (if (or (looking-at "|>") (flow--goes-on)) (+ base flow-indent) base)))))))

(defun flow-indent-line ()
  "Indent this line as `flowc fmt' does."
  (interactive)
  (let ((column (flow--column)))
    (if (not column)
        'noindent
      (if (<= (current-column) (current-indentation))
          (indent-line-to column)
        (save-excursion (indent-line-to column))))))

;;;###autoload
(define-derived-mode flow-mode prog-mode "flow"
  "Major mode for flow scripts."
  (setq-local comment-start "# "
              comment-start-skip "#+ *"
              indent-tabs-mode nil
              indent-line-function #'flow-indent-line
              electric-indent-chars (append "])}>" electric-indent-chars)
              font-lock-defaults '(flow--font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.flow\\'" . flow-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(flow-mode . ("flowc" "lsp"))))

(provide 'flow-mode)
;;; flow-mode.el ends here
